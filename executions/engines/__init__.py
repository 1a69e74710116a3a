"""Engines: who makes an execution run. `STIGMER_ENGINE` chooses; this is where it is asked."""

from collections.abc import Callable
from functools import cache

from django.conf import settings

from executions.engines.base import Engine, EngineError, WorkflowNotFoundError
from executions.engines.disconnected import Disconnected
from executions.engines.runner import Runner

__all__ = ["ENGINES", "Engine", "EngineError", "WorkflowNotFoundError", "chosen", "engine_of"]


def _temporal() -> Engine:
    from executions.engines.temporal import Temporal

    return Temporal()


ENGINES: dict[str, Callable[[], Engine]] = {
    "runner": Runner,
    "temporal": cache(_temporal),
    "none": Disconnected,
}


def chosen() -> Engine:
    """The engine that new executions start on."""
    return ENGINES[settings.STIGMER_ENGINE]()


def engine_of(name: str) -> Engine:
    """The engine that a stored execution runs on, if this process can reach it.

    Waiting for runners needs the database alone, so it stays possible beside another engine; with
    `none` nothing is reached.
    """
    if name == settings.STIGMER_ENGINE:
        return ENGINES[name]()
    if name == "runner" and settings.STIGMER_ENGINE != "none":
        return ENGINES["runner"]()
    return Disconnected()
