"""Acting as others for a while: short-lived tokens, made and revoked by the operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from django.utils import timezone

from organizations import queries
from organizations.operations.principals import create_principal
from organizations.operations.tokens import create_token, revoke_token
from organizations.states import PrincipalKind
from stigmer.core.callers import Act, Caller, system_act

VALID = timedelta(hours=1)


class PrincipalsMissingError(Exception):
    """Nobody active has these names; the message lists them."""


def kind_of(name: str) -> PrincipalKind:
    """The kind that a name tells by its prefix."""
    prefix, colon, _ = name.partition(":")
    known = {"service": PrincipalKind.SERVICE, "surface": PrincipalKind.SURFACE}
    return known.get(prefix, PrincipalKind.HUMAN) if colon else PrincipalKind.HUMAN


def need(names: Iterable[str], *, create: bool) -> list[str]:
    """Make sure that these principals exist and are active; answers those that were made.

    Raises PrincipalsMissingError, Refusal for what cannot be a name.
    """
    found = {name: queries.principal(name) for name in sorted(set(names))}
    inactive = [name for name, row in found.items() if row is not None and not row.is_active]
    if inactive:
        raise PrincipalsMissingError(f"these principals are deactivated: {', '.join(inactive)}")
    missing = [name for name, row in found.items() if row is None]
    if missing and not create:
        raise PrincipalsMissingError(
            f"these principals do not exist: {', '.join(missing)}. "
            "Create them with `manage.py create_principal`, or pass --create-principals."
        )
    for name in missing:
        kind = kind_of(name)
        create_principal(name=name, kind=kind, by=system_act(), now=timezone.now())
    return missing


@contextmanager
def acting_as(names: Iterable[str], label: str) -> Iterator[Mapping[str, str]]:
    """The secret of a token for each of these active principals, worthless afterwards."""
    secrets: dict[str, str] = {}
    made: dict[str, str] = {}
    try:
        for name in sorted(set(names)):
            now = timezone.now()
            token, secrets[name] = create_token(
                principal=name, name=label, expires_at=now + VALID, by=system_act(), now=now
            )
            made[name] = token.id
        yield secrets
    finally:
        for name, id in made.items():
            holder = Caller(id="", name=name, kind=kind_of(name))
            revoke_token(id=id, by=Act(holder, surface="system"), now=timezone.now())
