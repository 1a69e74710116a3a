"""Every route, every role, every kind of item: one table."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import nothing_written

pytestmark = pytest.mark.django_db
RUN = {"engine": "temporal", "engine_ref": "run-7"}
MOVE: dict[str, Any] = {"action": "complete", "expected_state_version": 1}
RESUME = RUN | {"expected_state_version": 1}
CHAT = {"surface": "cli", "external_id": "c"}
READS = ("", "/executions", "/events", "/intents", "/intents/{intent}", "/surface-refs")
ROUTES: dict[str, tuple[str, str, Any, int]] = {
    **{f"GET {path}": ("GET", path, None, 200) for path in READS},
    "PATCH": ("PATCH", "", MOVE, 200),
    "POST /resume": ("POST", "/resume", RESUME, 400),
    "POST /executions": ("POST", "/executions", RUN, 201),
    "POST /intents": ("POST", "/intents", {"text": "x"}, 201),
    "POST /surface-refs": ("POST", "/surface-refs", CHAT, 201),
}
# role -> (own organization, somebody else's private item there, other organization)
WHO = {
    "alice": ("write", "none", "none"),
    "bob": ("write", "none", "none"),
    "service:dispatcher": ("write", "none", "none"),
    "vera": ("read", "none", "none"),
    "mallory": ("none", "none", "write"),
    "root": ("write", "write", "write"),
    "surface:telegram": ("surface", "surface", "surface"),
    None: ("nobody", "nobody", "nobody"),
}
ITEMS = ("own", "private", "foreign")
RANDOM = "wi_00000000000000000000000000"


@pytest.fixture(autouse=True)
def carol(cast: Any) -> None:
    """A member whose private items nobody else of the organization sees."""
    factories.make_principal("carol")
    factories.join("acme", "carol", "member")


def _make(kind: str) -> tuple[str, str]:
    """An item of this kind with an intent; their ids."""
    from workitems import operations

    owner, tenant = ("mallory", "globex") if kind == "foreign" else ("alice", "acme")
    if kind == "private":
        owner = "carol"
    item = factories.open_item(
        owner=owner, tenant=tenant, visibility="private" if kind == "private" else "tenant"
    )
    made = operations.append_intent(
        item=item.id, text="x", params=None, by=factories.act(owner), now=factories.now(), facts={}
    )
    return item.id, str(made.intent.id)


def _expected(access: str, method: str, done: int) -> tuple[int, str | None]:
    if access == "nobody":
        return 401, "unauthenticated"
    if access == "surface":
        return 403, "surface_route_not_allowed"
    if access == "none":
        return 404, "work_item_not_found"
    if access == "read" and method != "GET":
        return 403, "permission_denied"
    return done, None


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("who", WHO)
def test_the_table(as_: Any, cast: Any, who: str | None, kind: str) -> None:
    api, access = as_(who), WHO[who][ITEMS.index(kind)]
    for name, (method, path, body, done) in ROUTES.items():
        item, intent = _make(kind)
        send = {"json": body} if body is not None else {}
        address = f"/work-items/{item}{path.format(intent=intent)}"
        status, code = _expected(access, method, done)

        if status in (401, 403, 404):
            with nothing_written():
                response = api.send(method, address, **send)
        else:
            response = api.send(method, address, **send)

        assert response.status_code == status, (name, response.content)
        assert code is None or response.json()["code"] == code, name


@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("kind", ["private", "foreign"])
@pytest.mark.parametrize("wrong", ["", "?x=1", "body"])
def test_an_invisible_item_answers_as_one_that_is_not_there(
    as_: Any, cast: Any, name: str, kind: str, wrong: str
) -> None:
    method, path, body, _ = ROUTES[name]
    item, intent = _make(kind)
    send: dict[str, Any] = {} if body is None else {"json": body, "key": "\x01"}
    if wrong == "body":
        send = {"body": b"{"}
    query = wrong if wrong.startswith("?") else ""
    answers = []
    for one in (item, RANDOM, "nonsense"):
        address = f"/work-items/{one}{path.format(intent=intent)}{query}"
        response = as_("bob").send(method, address, headers={"X-Request-Id": "same"}, **send)
        headers = {k: v for k, v in response.headers.items() if k != "X-Request-Id"}
        answers.append((response.status_code, response.content, headers))

    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0] == 404


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "cursor=x", "after_seq=x", "after_id=x"])
@pytest.mark.parametrize("path", READS)
def test_a_wrong_page_of_an_invisible_item_is_not_judged(
    as_: Any, cast: Any, path: str, query: str
) -> None:
    item, intent = _make("foreign")

    response = as_("bob").get(f"/work-items/{item}{path.format(intent=intent)}?{query}")

    assert (response.status_code, response.json()["code"]) == (404, "work_item_not_found")


@pytest.mark.parametrize("token", ["", "Bearer", "Bearer x", "Bearer stigmer_x", "Basic eA=="])
def test_no_token_no_answer(as_: Any, cast: Any, token: str) -> None:
    item, intent = _make("own")
    for method, path, body, _ in ROUTES.values():
        response = as_(None).send(
            method, f"/work-items/{item}{path.format(intent=intent)}", json=body,
            headers={"Authorization": token},
        )  # fmt: skip
        assert response.status_code == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", ""), ("PUT", ""), ("POST", ""), ("GET", "/resume"), ("DELETE", "/events"),
     ("PATCH", "/intents"), ("POST", "/events")],
)  # fmt: skip
def test_other_methods_are_not_allowed(as_: Any, cast: Any, method: str, path: str) -> None:
    item, _ = _make("own")
    with nothing_written():
        response = as_("alice").send(method, f"/work-items/{item}{path}")

    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
