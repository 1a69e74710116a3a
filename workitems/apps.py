"""The work items app."""

from datetime import datetime

from django.apps import AppConfig


class WorkItemsConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "workitems"
    verbose_name = "Work items"

    def ready(self) -> None:
        from organizations.authorization import PRIVATE
        from stigmer.background import sweeps
        from stigmer.core.registries import delete_gates, search_sources
        from workitems import queries
        from workitems.operations import retention
        from workitems.queries import searching

        def gate(organization: str, now: datetime) -> dict[str, int]:
            return {"work_items": queries.open_count(organization)}

        PRIVATE["work_item"] = ("visibility", "private", "owner")
        delete_gates.add("work_items", gate)
        search_sources.add("work_items", searching.found)
        sweeps.purges(retention.PURGE)
        sweeps.register(
            sweeps.Sweep(
                "workitems.sweep_retention",
                "Redacts old intents, forgets old surface references, deletes old ended items.",
                lambda: retention.RETENTION,
            )
        )
