"""The executions app."""

from functools import partial

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "executions"
    verbose_name = "Executions"

    def ready(self) -> None:
        from executions.kinds import KINDS
        from executions.operations import sweeping
        from executions.queries import probing, rows, searching
        from executions.states import Visibility
        from organizations.authorization import LOCATE, PRIVATE
        from stigmer.background import sweeps
        from stigmer.core.registries import delete_gates, in_use, probes, search_sources

        for noun, kind in KINDS.items():
            PRIVATE[noun] = ("visibility", Visibility.PRIVATE.value, "created_by")
            LOCATE[noun] = partial(rows.locate, kind)
        delete_gates.add("executions", sweeping.gate)
        in_use.add("executions", rows.users)
        search_sources.add("executions", searching.found)
        probes.add("execution", probing.changes)
        probes.add("claims", probing.claimable)
        for step in sweeping.PURGES:
            sweeps.purges(step)
        for sweep in sweeping.SWEEPS:
            sweeps.register(sweep)
