"""Many callers at once, round after round, each in a thread with its own connection."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

Racer = Callable[[int], Any]  # what a racer does in a round; answers what it saw


def rounds(count: int, *racers: Racer) -> list[list[Any]]:
    """What every racer answered or raised in every round; all start a round together."""
    barrier = threading.Barrier(len(racers))
    answers: list[list[Any]] = [[None] * len(racers) for _ in range(count)]

    def run(place: int, racer: Racer) -> None:
        try:
            connection.ensure_connection()
            for number in range(count):
                barrier.wait(timeout=60)
                answers[number][place] = _answer(racer, number)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(racers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert not any(thread.is_alive() for thread in threads), "a racer hangs"
    return answers


def _answer(racer: Racer, number: int) -> Any:
    try:
        return racer(number)
    except Exception as raised:  # noqa: BLE001 the test looks at it
        return raised


def statuses(answers: list[Any]) -> list[Any]:
    """The sorted statuses of a round, with what was raised in place of what did not answer."""
    return sorted(getattr(answer, "status_code", answer) for answer in answers)


def codes(answers: list[Any]) -> set[str]:
    """The problem codes of a round."""
    return {answer.json()["code"] for answer in answers if answer.status_code >= 400}


def prepared(as_: Any, *names: str) -> list[Any]:
    """The doors of these people, made before the threads start."""
    return [as_(name) for name in names]


def moves(as_: Any, items: list[Any], racers: int, **more: Any) -> list[Callable[[int], Any]]:
    """Callers who all move the item of a round from its first version."""
    apis = prepared(as_, *["alice", "bob"] * (racers // 2))
    body = {"action": "wait", "waiting_reason": "input", "expected_state_version": 1}

    def patch(api: Any) -> Callable[[int], Any]:
        return lambda number: api.patch(f"/work-items/{items[number].id}", json=body, **more)

    return [patch(api) for api in apis]
