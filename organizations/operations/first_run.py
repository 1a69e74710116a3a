"""The first run: an empty installation gets an admin, a token and an organization."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from organizations import queries
from organizations.operations.organizations import create_organization
from organizations.operations.principals import create_principal
from organizations.operations.tokens import create_token
from organizations.states import PrincipalKind
from stigmer.core.callers import SYSTEM, Act

ADMIN = "admin"
DEMO = "demo"
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('stigmer.first_run', 0))"


class FirstRun(NamedTuple):
    """What was made; the secrets are nowhere else."""

    name: str
    password: str
    token: str
    organization: str


@transaction.atomic
def first_run(*, by: Act, now: datetime) -> FirstRun | None:
    """Make the first platform admin and the organization `demo`; None where anybody exists."""
    with connection.cursor() as cursor:
        # Two first runs at once: the second finds the first one's admin.
        cursor.execute(_ONE_AT_A_TIME)
    if not queries.is_new_installation(SYSTEM.name):
        return None
    password = secrets.token_urlsafe(18)
    create_principal(
        name=ADMIN, kind=PrincipalKind.HUMAN, admin=True, password=password, by=by, now=now
    )
    _, token = create_token(principal=ADMIN, name="first run", expires_at=None, by=by, now=now)
    create_organization(name="Demo", slug=DEMO, owner=ADMIN, by=by, now=now)
    return FirstRun(ADMIN, password, token, DEMO)
