"""The resources app."""

from django.apps import AppConfig


class ResourcesConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "resources"
    verbose_name = "Resources"

    def ready(self) -> None:
        from organizations.authorization import PRIVATE
        from resources import search
        from resources.kinds import STORED
        from resources.operations import bulk
        from resources.queries.searching import SCOPE
        from resources.states import Visibility
        from stigmer.background import sweeps
        from stigmer.core.registries import delete_gates, search_sources

        for kind in (*STORED, SCOPE):
            PRIVATE[kind] = ("visibility", Visibility.PRIVATE.value, "created_by")
        delete_gates.add("resources", bulk.delete_trusted)
        sweeps.purges(sweeps.Step("resources", bulk.purge, bulk.left_by_deleted))
        search_sources.add("resources", search.documents)
