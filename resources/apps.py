"""The resources app."""

from django.apps import AppConfig


class ResourcesConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "resources"
    verbose_name = "Resources"

    def ready(self) -> None:
        from organizations.authorization import PRIVATE
        from resources.kinds import STORED
        from resources.operations import bulk
        from resources.states import Visibility
        from stigmer.core.registries import delete_gates

        for kind in STORED:
            PRIVATE[kind] = ("visibility", Visibility.PRIVATE.value, "created_by")
        delete_gates.add("resources", bulk.delete_trusted)
