"""The runner's side of the protocol: claim, report, heartbeat, inbox."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import httpx

LEASE = 60
ATTEMPTS = 8
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ClaimLostError(Exception):
    """Somebody else holds the execution, or it is gone: its work is no longer ours."""


class RefusedError(Exception):
    """The server refuses what this runner asks; the text says why."""


class Held(NamedTuple):
    """A claimed execution: who it is, the token of the claim, and what was reported of it."""

    id: str
    token: str
    attempt: int
    tasks: list[dict[str, Any]]


class Protocol:
    """One server, spoken to as one service; what may be repeated is repeated until it answers."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.pause = pause
        self.client = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=45,
            transport=transport,
            # A proxy of the environment does not lead to this machine.
            trust_env=httpx.URL(url).host not in LOOPBACK,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def claim(self, claim_id: str, *, labels: dict[str, str], wait: int) -> Held | None:
        """The oldest waiting workflow execution, or None within these seconds."""
        body = {
            "kinds": ["workflow_execution"], "labels": labels, "lease_seconds": LEASE,
            "wait_seconds": wait, "claim_id": claim_id,
        }  # fmt: skip
        found = self._send("POST", "/runner/claim", json=body)
        if not found:
            return None
        execution = found["execution"]
        return Held(
            execution["metadata"]["id"],
            found["claim_token"],
            found["claim_attempt"],
            execution["status"]["tasks"],
        )

    def report(self, held: Held, status: dict[str, Any], events: list[dict[str, Any]]) -> str:
        """Report what was done; answers the phase that the execution has now."""
        body = {"claim_token": held.token, "status": status, "events": events}
        found = self._send("POST", f"/workflow-executions/{held.id}/status", json=body)
        return str(found["execution"]["status"]["phase"])

    def heartbeat(self, held: Held) -> None:
        """Keep the claim."""
        body = {"claim_token": held.token, "lease_seconds": LEASE}
        self._send("POST", f"/runner/executions/{held.id}/heartbeat", json=body)

    def inbox(self, held: Held, *, after: int, wait: int) -> list[dict[str, Any]]:
        """What is not acknowledged; everything up to `after` is from now on."""
        found = self._send(
            "GET",
            f"/runner/executions/{held.id}/signals",
            params={"after": after, "wait_seconds": wait},
            headers={"X-Stigmer-Claim-Token": held.token},
        )
        items: list[dict[str, Any]] = found["items"]
        return items

    def _send(self, method: str, path: str, **more: Any) -> Any:
        for attempt in range(ATTEMPTS):
            try:
                answer = self.client.request(method, path, **more)
            except httpx.TransportError as cause:
                reason = str(cause) or type(cause).__name__
            else:
                if answer.status_code < 429 or answer.status_code == 501:
                    return _judged(answer)
                reason = f"{answer.status_code} {answer.text}"
            self.pause(min(8.0, 0.25 * 2**attempt))
        raise RefusedError(f"the server does not answer: {reason}")


def _judged(answer: httpx.Response) -> Any:
    if answer.is_success:
        return answer.json() if answer.content else None
    problem = answer.json()
    if problem["code"] in ("claim_lost", "execution_not_found", "invalid_transition"):
        raise ClaimLostError(problem["detail"])
    raise RefusedError(f"{answer.status_code} {problem['code']}: {problem['detail']}")
