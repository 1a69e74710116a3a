"""The organizations app."""

from typing import Any

from django.apps import AppConfig
from django.apps import apps as registry
from django.contrib.auth.hashers import make_password
from django.utils import timezone

from stigmer.core.callers import SYSTEM


class OrganizationsConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "organizations"
    verbose_name = "Organizations"

    def ready(self) -> None:
        from django.db.models.signals import post_migrate

        from organizations import queries, searching
        from organizations.errors import SurfaceRouteNotAllowed
        from stigmer.core.registries import callers, search_sources, surface_gate

        def refuse() -> None:
            raise SurfaceRouteNotAllowed

        callers.by_token = queries.caller_by_token
        callers.by_name = queries.caller_by_name
        surface_gate.refuse = refuse
        search_sources.add("organizations", searching.found)
        post_migrate.connect(seed_platform_principal, sender=self)


def seed_platform_principal(*, using: str, apps: Any = registry, **_more: Any) -> None:
    """Make `service:stigmer`, who does what no person asked for; without token and login."""
    try:
        principals = apps.get_model("organizations", "Principal").objects.using(using)
    except LookupError:
        return
    principals.bulk_create(
        [
            principals.model(
                name=SYSTEM.name,
                kind=SYSTEM.kind,
                password=make_password(None),
                created_at=timezone.now(),
            )
        ],
        ignore_conflicts=True,
    )
