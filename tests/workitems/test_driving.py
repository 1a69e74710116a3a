"""What drives the API: expectations, references, and sending again when the network fails."""

from typing import Any

import httpx
import pytest

from workitems.driving import lines, references
from workitems.driving.sending import ATTEMPTS, Sender, ServerAwayError

# Lines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expect", "key", "status", "code", "accepted"),
    [
        (201, None, 201, "", True),
        (201, "k", 200, "", True),
        (201, None, 200, "", False),
        (200, "k", 201, "", False),
        ("already_exists", None, 409, "already_exists", True),
        ("already_exists", None, 409, "invalid_transition", False),
        ([201, "already_exists"], None, 409, "already_exists", True),
        (409, None, 409, "already_exists", True),
        ("secret_in_text", None, 200, "", False),
    ],
)
def test_an_expectation_is_a_status_a_code_or_several(
    expect: Any, key: str | None, status: int, code: str, accepted: bool
) -> None:
    request = lines.Request(principal="a", method="GET", path="/api/v1/x", key=key, expect=expect)

    assert request.accepts(status, code) is accepted


def test_references_are_replaced_in_texts_and_keep_the_type_of_a_whole_value() -> None:
    answers = {"a": {"work_item": {"id": "wi_1"}, "intent": {"id": 7}}}
    body = {"one": "{{a.intent.id}}", "text": "see {{a.work_item.id}}/{{a.intent.id}}", "n": [1]}

    assert references.resolve(body, answers) == {"one": 7, "text": "see wi_1/7", "n": [1]}
    assert references.resolve("{{ a.not }} {{A.not}}", answers) == "{{ a.not }} {{A.not}}"
    with pytest.raises(references.UnresolvedError, match="a lacks it"):
        references.resolve("{{a.work_item.gone}}", answers)


# Sending ------------------------------------------------------------------------------------------


class Network:
    """A transport that fails as told and then answers; remembers every request."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.seen: list[httpx.Request] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        assert isinstance(outcome, httpx.Response)
        return outcome

    def sender(self) -> Sender:
        made = Sender(
            "http://stigmer.test",
            transport=httpx.MockTransport(self),
            pause=self.pauses.append,
        )
        made.tokens = {"alice": "secret"}
        return made


LOST = httpx.ReadError("the connection was lost")


def test_sends_again_with_the_same_key_when_the_answer_is_lost() -> None:
    network = Network(LOST, LOST, httpx.Response(200, json={"ok": True}))

    sent = network.sender().send("alice", "POST", "/api/v1/work-items", {"a": "é"}, "ключ")

    assert sent.status == 200
    assert len(network.seen) == 3
    assert {request.headers.get("Idempotency-Key") for request in network.seen} == {"ключ"}
    assert {request.content for request in network.seen} == {'{"a":"é"}'.encode()}
    assert network.pauses == sorted(network.pauses)


def test_gives_up_after_a_number_of_attempts_and_says_how_to_go_on() -> None:
    network = Network(LOST)

    with pytest.raises(ServerAwayError, match="run the command again"):
        network.sender().send("alice", "POST", "/api/v1/work-items", {}, "k")

    assert len(network.seen) == ATTEMPTS


def test_never_repeats_a_write_without_a_key_that_may_have_happened() -> None:
    network = Network(LOST, httpx.Response(200))

    with pytest.raises(ServerAwayError):
        network.sender().send("alice", "POST", "/api/v1/work-items", {})

    assert len(network.seen) == 1


@pytest.mark.parametrize(
    "first",
    [
        httpx.ConnectError("refused"),
        httpx.Response(503, headers={"Retry-After": "2"}, json={"code": "store_unavailable"}),
        httpx.Response(429, headers={"Retry-After": "2"}, json={"code": "throttled"}),
    ],
)
def test_repeats_what_was_certainly_not_done_even_without_a_key(first: Any) -> None:
    network = Network(first, httpx.Response(201, json={}))

    sent = network.sender().send("alice", "POST", "/api/v1/work-items", {})

    assert sent.status == 201
    if isinstance(first, httpx.Response):
        assert network.pauses == [2.0]


def test_a_refusal_that_stays_is_an_answer() -> None:
    network = Network(httpx.Response(503, json={"code": "store_unavailable", "detail": "away"}))

    sent = network.sender().send("alice", "POST", "/api/v1/work-items", {}, "k")

    assert (sent.status, sent.code, sent.detail) == (503, "store_unavailable", "away")


def test_says_when_the_server_uses_another_database() -> None:
    sender = Network(httpx.Response(401, json={"code": "unauthenticated"})).sender()

    with pytest.raises(ServerAwayError, match="another database"):
        sender.need_tokens()
