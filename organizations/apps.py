"""The organizations app."""

from django.apps import AppConfig


class OrganizationsConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "organizations"
    verbose_name = "Organizations"

    def ready(self) -> None:
        from organizations import queries
        from organizations.errors import SurfaceRouteNotAllowed
        from stigmer.core.registries import callers, surface_gate

        def refuse() -> None:
            raise SurfaceRouteNotAllowed

        callers.by_token = queries.caller_by_token
        callers.by_name = queries.caller_by_name
        surface_gate.refuse = refuse
