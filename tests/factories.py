"""The fixed cast and its API client, made by the product's own operations."""

from __future__ import annotations

import json as jsonlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from django.test import Client
from django.utils import timezone

from organizations import queries
from organizations.operations import members, organizations, principals, tokens
from stigmer.core.callers import Act, Caller, system_act
from tests import casting
from workitems.operations import Run, attach_execution, create_work_item, transition
from workitems.queries import ExecutionRow, ItemRow, find
from workitems.states import Engine, Phase, Visibility

PEOPLE = {
    "alice": "human", "bob": "human", "vera": "human", "mallory": "human", "root": "human",
    "service:dispatcher": "service", "surface:telegram": "surface",
}  # fmt: skip
ROLES = {"bob": "member", "vera": "viewer", "service:dispatcher": "member"}


def now() -> datetime:
    """The time at the door of a test."""
    return timezone.now()


def caller(name: str) -> Caller:
    """A principal with the memberships it has at this moment."""
    found = queries.caller_by_name(name)
    assert found is not None, f"{name} is not in the cast"
    return found


def act(name: str = "alice", *, key: str | None = None, surface: str = "api") -> Act:
    """What a write by this principal is told about its caller."""
    return Act(caller=caller(name), surface=surface, request_id="req-test", key=key)


def make_principal(name: str, kind: str = "human", **more: Any) -> Caller:
    """Another principal beside the cast."""
    principals.create_principal(name=name, kind=kind, by=system_act(), now=now(), **more)
    return caller(name)


def make_organization(slug: str, owner: str) -> str:
    """An organization of this owner; answers the slug."""
    organizations.create_organization(
        name=slug.title(), slug=slug, owner=owner, by=act(owner), now=now()
    )
    return slug


def join(organization: str, principal: str, role: str) -> Caller:
    """Give this principal a role, as the platform would."""
    members.put_member(
        organization=organization, principal=principal, role=role, by=system_act(), now=now()
    )
    return caller(principal)


def make_cast() -> dict[str, Caller]:
    """alice owns acme, bob is a member, vera views, mallory owns globex, root is platform admin."""
    for name, kind in PEOPLE.items():
        make_principal(name, kind, admin=name == "root")
    make_organization("acme", "alice")
    make_organization("globex", "mallory")
    for name, role in ROLES.items():
        join("acme", name, role)
    return {name: caller(name) for name in PEOPLE}


_remembered: list[tuple[casting.Snapshot, dict[str, Caller]]] = []


def the_cast() -> dict[str, Caller]:
    """`make_cast` once in a process; afterwards the rows that it wrote are written again."""
    if _remembered:
        snapshot, made = _remembered[0]
        snapshot.write()
    else:
        snapshot, made = casting.recorded(make_cast)
        _remembered.append((snapshot, made))
    return dict(made)


def make_token(principal: str, expires_at: datetime | None = None) -> str:
    """The secret of a new token."""
    _, secret = tokens.create_token(
        principal=principal, name="test", expires_at=expires_at, by=system_act(), now=now()
    )
    return secret


@dataclass
class Api:
    """Speaks to the API through the whole Django stack; paths are below /api/v1."""

    token: str | None
    client: Client = field(default_factory=Client)

    def get(self, path: str, **more: Any) -> Any:
        return self.send("GET", path, **more)

    def post(self, path: str, json: Any = None, **more: Any) -> Any:
        return self.send("POST", path, json=json, **more)

    def put(self, path: str, json: Any = None, **more: Any) -> Any:
        return self.send("PUT", path, json=json, **more)

    def patch(self, path: str, json: Any = None, **more: Any) -> Any:
        return self.send("PATCH", path, json=json, **more)

    def delete(self, path: str, **more: Any) -> Any:
        return self.send("DELETE", path, **more)

    def send(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: bytes | None = None,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The response; `body` is sent as it is, `key` is the idempotency key."""
        sent = dict(headers or {})
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if key is not None:
            sent["Idempotency-Key"] = key.encode().decode("latin-1")
        content = body if body is not None else b"" if json is None else encode(json)
        full = path if path.startswith("/api/") else f"/api/v1{path}"
        return self.client.generic(
            method, full, content, content_type="application/json", headers=sent
        )


def encode(data: Any) -> bytes:
    """JSON in UTF-8, as clients send it."""
    return jsonlib.dumps(data, ensure_ascii=False).encode()


@dataclass
class Doors:
    """One client per principal, each with a token of its own; made before threads start."""

    tokens: dict[str, str] = field(default_factory=dict)

    def __call__(self, name: str | None) -> Api:
        if name is None:
            return Api(None)
        if name not in self.tokens:
            self.tokens[name] = make_token(name)
        return Api(self.tokens[name])


def race(*runners: Callable[[], Any]) -> list[Any]:
    """Run all at once from one barrier, each in a thread with its own connection.

    Answers what each returned or raised, in the order of the runners.
    """
    barrier = threading.Barrier(len(runners))
    results: list[Any] = [None] * len(runners)

    def run(place: int, runner: Callable[[], Any]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait(timeout=30)
            results[place] = runner()
        except Exception as raised:  # noqa: BLE001 the test looks at it
            results[place] = raised
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(runners)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads), "a runner hangs"
    return results


# Work items ---------------------------------------------------------------------------------------


def open_item(title: str = "Fix the door", *, owner: str = "alice", **more: Any) -> ItemRow:
    """An active item; `more` is tenant, external_key, visibility, key, surface, at."""
    made = create_work_item(
        tenant=more.get("tenant", "acme"),
        title=title,
        external_key=more.get("external_key", ""),
        visibility=Visibility(more.get("visibility", "tenant")),
        by=act(owner, key=more.get("key"), surface=more.get("surface", "api")),
        now=more.get("at") or now(),
        facts={"title": title},
    )
    assert made.created
    return made.view.item


def moved_item(item: ItemRow, action: str, *, by: str = "", **more: Any) -> ItemRow:
    """The item after this transition."""
    return transition(
        item=item.id,
        action=action,
        expected_state_version=item.state_version,
        by=act(by or item.owner),
        now=more.pop("at", None) or now(),
        facts={},
        **more,
    ).view.item


def waiting_item(title: str = "Fix the door", *, reason: str = "input", **more: Any) -> ItemRow:
    """An item that waits."""
    return moved_item(open_item(title, **more), "wait", waiting_reason=reason)


def ended_item(title: str = "Fix the door", *, action: str = "complete", **more: Any) -> ItemRow:
    """A terminal item; a superseded one has a successor of its own."""
    item = open_item(title, **more)
    if action != "supersede":
        return moved_item(item, action)
    successor = open_item("Its successor", tenant=item.organization, owner=item.owner)
    return moved_item(item, action, superseded_by=successor.id)


def run_of(item: ItemRow, ref: str = "run-1", phase: str = "Running") -> ExecutionRow:
    """An execution of the item in this phase."""
    return attach_execution(
        item=item.id,
        run=Run(Engine.TEMPORAL, ref),
        phase=Phase(phase),
        by=act(item.owner),
        now=now(),
        facts={},
    ).execution


def running_item(title: str = "Fix the door", **more: Any) -> ItemRow:
    """An active item whose first execution runs."""
    item = open_item(title, **more)
    run_of(item)
    return item


def found_item(item: str) -> ItemRow:
    """The item as it is now, whoever asks."""
    row = find(item)
    assert row is not None
    return row
