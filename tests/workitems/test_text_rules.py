"""What every text of a request may be, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.workitems.world import nothing_written, refused

pytestmark = pytest.mark.django_db
NEW = {"tenant": "acme", "title": "x"}
VERSION = {"expected_state_version": 1}
RUN = {"engine": "temporal", "engine_ref": "r"}
# (method, path, the valid body, field, most bytes, one line)
FIELDS: list[tuple[str, str, dict[str, Any], str, int, bool]] = [
    ("POST", "", NEW, "title", 256, True),
    ("POST", "", NEW, "external_key", 512, True),
    ("POST", "", NEW, "idempotency_key", 512, True),
    ("POST", "/resume", RUN | VERSION, "engine_ref", 256, True),
    ("POST", "/executions", RUN, "engine_ref", 256, True),
    ("POST", "/intents", {"text": "x"}, "text", 8192, False),
    ("POST", "/surface-refs", {"surface": "cli", "external_id": "x"}, "external_id", 256, True),
    (
        "POST", "/surface-refs", {"surface": "cli", "external_id": "x"}, "actor_external_id", 256,
        True,
    ),
]  # fmt: skip
NAMES = [f"{path or 'create'}:{field}" for _, path, _, field, _, _ in FIELDS]


@pytest.fixture
def send(as_: Any, cast: Any) -> Any:
    item = factories.open_item("There", owner="bob")
    factories.run_of(item, "run-0", "Failed")

    def sender(method: str, path: str, body: Any) -> Any:
        address = f"/work-items/{item.id}{path}" if path else "/work-items"
        content = {"body": body} if isinstance(body, bytes) else {"json": body}
        return as_("bob").send(method, address, **content)

    return sender


@pytest.mark.parametrize("case", FIELDS, ids=NAMES)
def test_the_longest_fits_and_one_byte_more_does_not(send: Any, case: Any) -> None:
    method, path, body, field, most, _ = case
    for text in ("x" * (most + 1), "é" * (most // 2) + "x", "🚪" * (most // 4) + "x"):
        with nothing_written():
            refused(send(method, path, body | {field: text}), 400, "invalid_request")

    assert send(method, path, body | {field: "🚪" * (most // 4)}).status_code == 201


@pytest.mark.parametrize("case", FIELDS, ids=NAMES)
@pytest.mark.parametrize(
    "escape", ["\\u0000", "\\ud800", "\\udc00x", "\\u0001", "\\u001b", "\\u007f", "\\u0085"]
)
def test_refuses_what_is_no_text(send: Any, case: Any, escape: str) -> None:
    method, path, body, field, _, _ = case
    raw = factories.encode(body | {field: "a@b"}).replace(b"@", escape.encode())
    with nothing_written():
        response = send(method, path, raw)

    problem = refused(response, 400, "invalid_request")
    assert problem["errors"][0]["pointer"] == f"/{field}"


@pytest.mark.parametrize("case", FIELDS, ids=NAMES)
@pytest.mark.parametrize("white", ["\t", "\n", "\r", "\u2028"])
def test_only_a_text_of_many_lines_has_line_breaks(send: Any, case: Any, white: str) -> None:
    method, path, body, field, _, one_line = case

    response = send(method, path, body | {field: f"a{white}b"})

    assert response.status_code == (400 if one_line else 201)


@pytest.mark.parametrize("case", FIELDS, ids=NAMES)
@pytest.mark.parametrize("value", [7, 1.5, True, ["x"], {"a": 1}, None])
def test_refuses_another_type(send: Any, case: Any, value: Any) -> None:
    method, path, body, field, _, _ = case
    with nothing_written():
        response = send(method, path, body | {field: value})

    problem = refused(response, 400, "invalid_request")
    assert problem["errors"][0]["pointer"] == f"/{field}"


def test_titles_and_intents_keep_their_white_space(send: Any, as_: Any) -> None:
    title = send("POST", "", NEW | {"title": "  two  words "}).json()["work_item"]["title"]
    text = send("POST", "/intents", {"text": "\n a \n"}).json()["intent"]["text"]

    assert (title, text) == ("  two  words ", "\n a \n")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b"null",
        b"NaN",
        b'{"tenant": "acme", "title": "x", "title": "y"}',
        b'{"tenant": "acme", "title": "\xff"}',
        b'{"tenant": "acme", "title": "x", "a": ' + b"[" * 10000 + b"]" * 10000 + b"}",
        b'{"tenant": "acme", "title": 1e400}',
        b'\xef\xbb\xbf{"tenant": "acme", "title": "x"}',
    ],
)
@pytest.mark.parametrize("path", ["", "/resume", "/executions", "/intents", "/surface-refs"])
def test_refuses_what_is_no_body(send: Any, path: str, raw: bytes) -> None:
    with nothing_written():
        response = send("POST", path, raw)

    assert response.status_code in (400, 411), response.content
    assert response.json()["code"] in ("invalid_request", "length_required")
