"""Long polls: claims and inboxes that wait without a thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from executions.kinds import WORKFLOW
from tests.executions import making
from tests.executions.watching import InThread, Live

pytestmark = pytest.mark.django_db(transaction=True)
RUNNER = making.RUNNER


def claim(live: Live, *, wait: int = 0, **more: Any) -> Any:
    body = {"kinds": ["workflow_execution"], "wait_seconds": wait, **more}
    return live.send(RUNNER, "POST", "/runner/claim", json=body)


def inbox(live: Live, held: making.Claimed, *, wait: int = 0, after: int = 0) -> Any:
    path = f"/runner/executions/{held.execution.id}/signals?after={after}&wait_seconds={wait}"
    return live.send(RUNNER, "GET", path, headers={"X-Stigmer-Claim-Token": held.token})


def test_a_claim_waits_for_an_execution(live: Live) -> None:
    waiting = InThread(lambda: claim(live, wait=20))
    time.sleep(0.7)

    row = making.pending()
    answer = waiting.result()

    assert answer.status_code == 200
    assert answer.json()["execution"]["metadata"]["id"] == row.id
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert int(answer.headers["Content-Length"]) == len(answer.content)


def test_a_claim_takes_what_is_there_at_once(live: Live) -> None:
    row = making.pending()

    began = time.monotonic()
    answer = claim(live, wait=20)

    assert answer.json()["execution"]["metadata"]["id"] == row.id
    assert time.monotonic() - began < 5


def test_a_claim_that_finds_nothing_answers_204_in_time(live: Live) -> None:
    began = time.monotonic()
    answer = claim(live, wait=1)

    assert (answer.status_code, answer.content) == (204, b"")
    assert 0.9 < time.monotonic() - began < 6
    assert "content-length" not in answer.headers


def test_a_waiting_claim_gets_what_a_lapsed_lease_lets_go(live: Live) -> None:
    row = making.pending()
    making.claim(WORKFLOW, lease_seconds=2)

    answer = claim(live, wait=20)

    assert answer.json()["execution"]["metadata"]["id"] == row.id
    assert answer.json()["claim_attempt"] == 2


def test_eight_waiting_claims_share_eight_executions(live: Live) -> None:
    waiting = [InThread(lambda: claim(live, wait=20)) for _ in range(8)]
    time.sleep(0.7)

    made = {making.pending().id for _ in range(8)}
    answers = [one.result() for one in waiting]

    assert {answer.json()["execution"]["metadata"]["id"] for answer in answers} == made


def test_an_inbox_waits_for_a_message(live: Live) -> None:
    held = making.running()
    waiting = InThread(lambda: inbox(live, held, wait=20))
    time.sleep(0.7)

    making.command(held, "pause")

    assert [entry["kind"] for entry in waiting.result().json()["items"]] == ["pause"]


def test_an_inbox_that_stays_empty_answers_so_in_time(live: Live) -> None:
    answer = inbox(live, making.running(), wait=1)

    assert (answer.status_code, answer.json()["items"]) == (200, [])


def test_an_inbox_whose_claim_was_lost_meanwhile_says_so(live: Live) -> None:
    making.pending()
    held = making.claim(WORKFLOW, lease_seconds=2)
    assert held is not None
    waiting = InThread(lambda: inbox(live, held, wait=20))
    time.sleep(2.1)

    making.claim(WORKFLOW)
    answer = waiting.result()

    assert (answer.status_code, answer.json()["code"]) == (409, "claim_lost")
    assert answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    ("who", "body", "status"),
    [
        (None, {}, 401),
        ("alice", {"kinds": ["workflow_execution"]}, 403),
        (RUNNER, {"kinds": []}, 400),
        (RUNNER, {"kinds": ["workflow_execution"], "wait_seconds": 31}, 400),
        (RUNNER, {"kinds": ["workflow_execution"], "nonsense": 1}, 400),
    ],
)
def test_a_claim_is_refused_as_on_any_route(
    who: str | None, body: dict[str, Any], status: int, live: Live
) -> None:
    headers = {} if who else {"Authorization": "Bearer no"}

    answer = live.send(who or "vera", "POST", "/runner/claim", json=body, headers=headers)

    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_body_that_is_too_large_is_refused(live: Live) -> None:
    answer = live.send(RUNNER, "POST", "/runner/claim", content=b"x" * 70_000)

    assert answer.status_code == 413


def test_200_idle_long_polls_do_not_stop_the_api(live: Live) -> None:
    live.headers(RUNNER)
    with ThreadPoolExecutor(200) as pool:
        body = {"kinds": ["agent_execution"], "wait_seconds": 4}
        polls = [
            pool.submit(live.send, RUNNER, "POST", "/runner/claim", json=body) for _ in range(200)
        ]
        time.sleep(2)
        times = []
        for _ in range(20):
            began = time.monotonic()
            assert live.get("vera", "/work-items?tenant=acme").status_code == 200
            times.append(time.monotonic() - began)
        done = {poll.result().status_code for poll in polls}

    assert done == {204}
    assert max(times) < 2, "an idle poll holds something that the API needs"


def test_the_plain_wsgi_application_never_waits(as_: Callable[[str], Any]) -> None:
    held = making.running()
    began = time.monotonic()

    nothing = as_(RUNNER).post(
        "/runner/claim", json={"kinds": ["agent_execution"], "wait_seconds": 30}
    )
    empty = as_(RUNNER).get(
        f"/runner/executions/{held.execution.id}/signals?wait_seconds=30",
        headers={"X-Stigmer-Claim-Token": held.token},
    )

    assert (nothing.status_code, empty.status_code, empty.json()["items"]) == (204, 200, [])
    assert time.monotonic() - began < 5
