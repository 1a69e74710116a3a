"""Who reads and who writes: plain values that every query and operation receives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

HUMAN, SERVICE, SURFACE = "human", "service", "surface"
_NO_ROLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated principal with the roles it holds now; whose eyes see (`viewer`).

    `roles` maps an organization's slug to `owner`, `admin`, `member` or `viewer`. `internal` marks
    the in-process service layer (a worker, a command): it skips authorization, and no token can
    obtain it.
    """

    id: str
    name: str
    kind: str
    platform_admin: bool = False
    roles: Mapping[str, str] = field(default_factory=lambda: _NO_ROLES)
    internal: bool = False

    @property
    def sees_all(self) -> bool:
        """Whether visibility rules do not narrow what this caller reads."""
        return self.platform_admin or self.internal

    def role_in(self, organization: str) -> str | None:
        """The role in this organization, or None."""
        return self.roles.get(organization)


@dataclass(frozen=True, slots=True)
class Act:
    """What every write is told about its caller (`by`)."""

    caller: Caller
    surface: str = "api"
    request_id: str = ""
    key: str | None = None
    via: Caller | None = None

    @property
    def actor(self) -> str:
        """The name that answers for the write."""
        return self.caller.name

    @property
    def acting(self) -> str | None:
        """The surface that relayed the request, or None."""
        return self.via.name if self.via else None


SYSTEM = Caller(id="", name="service:stigmer", kind=SERVICE, internal=True)


def system_act() -> Act:
    """The act of sweeps, dispatcher and commands: what no person asked for."""
    return Act(caller=SYSTEM, surface="system")
