"""Who may do what, decided anew on every request through two replaceable seams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Protocol, TypeVar

import structlog
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db.models import BooleanField, Model, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.module_loading import import_string

from organizations.states import Role
from stigmer.core.callers import Caller
from stigmer.core.errors import AuthorizationUnavailable, PermissionDenied, Refusal

log = structlog.get_logger("stigmer.authorization")
Row = TypeVar("Row", bound=Model)
Clause = tuple[str, list[Any]]


class Verdict(Enum):
    """What an authorizer answers."""

    ALLOW = "allow"
    DENY = "deny"
    NOT_FOUND = "not_found"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict; its reason goes to the log and never to a client."""

    verdict: Verdict
    reason: str = ""


ALLOW = Decision(Verdict.ALLOW)


@dataclass(frozen=True, slots=True)
class Resource:
    """What a permission is asked for: a kind, its id, the organization it belongs to.

    `private_to` names the one principal who sees it, besides platform admins.
    """

    kind: str
    id: str
    organization: str
    private_to: str | None = None


class Permission:
    """The permissions the role-based authorizer knows, each with the least role that has it."""

    READ = "read"
    WRITE = "write"
    MANAGE = "manage"
    OWN = "own"


_LEAST = {
    Permission.READ: Role.VIEWER,
    Permission.WRITE: Role.MEMBER,
    Permission.MANAGE: Role.ADMIN,
    Permission.OWN: Role.OWNER,
}


class Authorizer(Protocol):
    """Decides one permission on one resource."""

    def authorize(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        """Allow, deny with a reason, not found, or unavailable."""


class ListReadScope(Protocol):
    """Narrows a list or an aggregate to what a principal may read."""

    def restrict(self, queryset: QuerySet[Row], principal: Caller, kind: str) -> QuerySet[Row]:
        """The rows of this kind that the principal may read."""


class RoleAuthorizer:
    """By membership: a viewer reads, a member writes, an admin manages, an owner owns.

    A platform admin may do in any organization what an owner may. Without a membership there is
    nothing to see, and a private thing is there for its principal alone.
    """

    def authorize(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        if principal.platform_admin:
            return ALLOW
        found = _located(resource)
        if found is None:
            return Decision(Verdict.NOT_FOUND, "no such thing")
        return self._by_role(principal, permission, found)

    def _by_role(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        role = principal.role_in(resource.organization)
        if role is None:
            return Decision(Verdict.NOT_FOUND, "no membership")
        if resource.private_to is not None and resource.private_to != principal.name:
            return Decision(Verdict.NOT_FOUND, "private to another principal")
        if Role(role).rank < _LEAST[permission].rank:
            return Decision(Verdict.DENY, f"role {role} has no {permission}")
        return ALLOW


class PermissiveAuthorizer:
    """For a single team: everybody with a token may do everything."""

    def authorize(self, principal: Caller, permission: str, resource: Resource) -> Decision:
        return ALLOW


class MembershipScope:
    """The rows of the caller's organizations, without other people's private ones.

    A kind whose rows can be private names the columns in `PRIVATE`.
    """

    def restrict(self, queryset: QuerySet[Row], principal: Caller, kind: str) -> QuerySet[Row]:
        if principal.sees_all:
            return queryset
        sql, params = self.clause(principal, kind, queryset.model._meta.db_table)
        return queryset.filter(RawSQL(sql, params, BooleanField()))

    def clause(self, principal: Caller, kind: str, table: str) -> Clause:
        """The same as SQL over this table name or alias, for statements that are written out."""
        if principal.sees_all:
            return "true", []
        column = ORGANIZATION_COLUMN.get(kind, "organization")
        mine: Clause = f"{table}.{column} = ANY(%s)", [sorted(principal.roles)]
        private = PRIVATE.get(kind)
        if private is None:
            return mine
        flag, value, holder = private
        sql = f"{mine[0]} AND ({table}.{flag} <> %s OR {table}.{holder} = %s)"
        return sql, [*mine[1], value, principal.name]


# kind -> (column, value that means private, column of the principal who sees it); apps add theirs.
PRIVATE: dict[str, tuple[str, Any, str]] = {}
# kind -> what finds a resource by its id when whoever asks may not look first; apps add theirs.
LOCATE: dict[str, Callable[[str], Resource | None]] = {}


def _located(resource: Resource) -> Resource | None:
    """The resource with its organization; without one it is looked up by its id."""
    if resource.organization or resource.kind not in LOCATE:
        return resource
    return LOCATE[resource.kind](resource.id)


# kind -> the column that holds the organization, where it is not `organization`.
ORGANIZATION_COLUMN = {"organization": "slug"}


@cache
def _authorizer(path: str) -> Authorizer:
    found: Authorizer = import_string(path)()
    return found


@cache
def _scope(path: str) -> ListReadScope:
    found: ListReadScope = import_string(path)()
    return found


def restrict(queryset: QuerySet[Row], viewer: Caller, kind: str) -> QuerySet[Row]:
    """Narrow a list or an aggregate by the configured read scope; without one nothing narrows."""
    if viewer.internal or not settings.STIGMER_LIST_READ_SCOPE:
        return queryset
    return _scope(settings.STIGMER_LIST_READ_SCOPE).restrict(queryset, viewer, kind)


def scope_clause(viewer: Caller, kind: str, model: type[Model], alias: str) -> Clause:
    """The configured read scope as SQL over this alias of the model's table, with parameters."""
    if viewer.internal or not settings.STIGMER_LIST_READ_SCOPE:
        return "true", []
    scope = _scope(settings.STIGMER_LIST_READ_SCOPE)
    if isinstance(scope, MembershipScope):
        return scope.clause(viewer, kind, alias)
    found = scope.restrict(model._default_manager.all(), viewer, kind).order_by().values("pk")
    try:
        sql, params = found.query.sql_with_params()
    except EmptyResultSet:
        return "false", []
    return f"{alias}.{model._meta.pk.column} IN ({sql})", list(params)


def _decide(caller: Caller, permission: str, resource: Resource) -> Decision:
    if caller.internal:
        return ALLOW
    try:
        return _authorizer(settings.STIGMER_AUTHORIZER).authorize(caller, permission, resource)
    except Exception as cause:
        log.exception("authorizer_failed", principal=caller.name)
        raise AuthorizationUnavailable from cause


def permitted(caller: Caller, permission: str, resource: Resource) -> bool:
    """Whether the configured authorizer allows this. Raises AuthorizationUnavailable."""
    verdict = _decide(caller, permission, resource).verdict
    if verdict is Verdict.UNAVAILABLE:
        raise AuthorizationUnavailable
    return verdict is Verdict.ALLOW


def authorize(
    caller: Caller,
    permission: str,
    resource: Resource,
    *,
    missing: type[Refusal] | Refusal,
    denied: str = "",
) -> None:
    """Let through what the configured authorizer allows; the in-process caller is not asked.

    Raises `missing`, PermissionDenied with the route's fixed text, AuthorizationUnavailable. An
    authorizer that fails is never taken for allow.
    """
    decision = _decide(caller, permission, resource)
    if decision.verdict is Verdict.ALLOW:
        return
    log.info(
        "denied",
        principal=caller.name,
        permission=permission,
        kind=resource.kind,
        id=resource.id,
        verdict=decision.verdict.value,
        reason=decision.reason,
    )
    if decision.verdict is Verdict.NOT_FOUND:
        raise missing
    if decision.verdict is Verdict.DENY:
        raise PermissionDenied(denied)
    raise AuthorizationUnavailable
