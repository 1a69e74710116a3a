"""What a lower app asks or tells a higher one: lists that `AppConfig.ready` fills."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry", bound=Callable[..., Any])


class Registry(Generic[Entry]):
    """Named callables in the order of their registration; a name registers once."""

    def __init__(self, purpose: str) -> None:
        self.purpose = purpose
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Register; the same name again replaces the entry (a reload of the same module)."""
        self._entries[name] = entry

    def remove(self, name: str) -> None:
        """Forget the entry of this name, if there is one."""
        self._entries.pop(name, None)

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        return iter(list(self._entries.items()))


# (organization: str, now: datetime) -> dict[str, int] of what is not terminal, or raises a Refusal
delete_gates: Registry[Callable[..., Any]] = Registry("asked before an organization is deleted")
# (kind: str, id: str) -> int: how many live things use this resource
in_use: Registry[Callable[[str, str], int]] = Registry("asked before a resource is deleted")
# (question: stigmer.core.search.Question) -> stigmer.core.search.Found
search_sources: Registry[Callable[..., Any]] = Registry("searched by /search")
# () -> None, raises with a sentence when the part is not ready
readiness: Registry[Callable[[], None]] = Registry("asked by /readyz")


class Callers:
    """Who a token or a session belongs to; the organizations app fills it in."""

    by_token: Callable[[str, Any], Any]
    by_name: Callable[[str], Any]


callers = Callers()


class SurfaceGate:
    """Refuses a surface on a route that is not for surfaces; organizations names the refusal."""

    refuse: Callable[[], None]


surface_gate = SurfaceGate()
