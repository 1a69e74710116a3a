"""The runner protocol as a client speaks it: claim, report, heartbeat, inbox."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

LEASE = 30
PATHS = {"WorkflowExecution": "workflow-executions", "AgentExecution": "agent-executions"}


class LostError(Exception):
    """The claim belongs to somebody else now; whoever holds it goes on."""


class ServerError(Exception):
    """The server refused what a runner may do, or did not answer."""


@dataclass
class Held:
    """An execution with the token of its claim, and how far its log and inbox were read."""

    execution: dict[str, Any]
    token: str
    attempt: int
    sequence: int = 0
    acknowledged: int = 0
    tasks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def id(self) -> str:
        return str(self.execution["metadata"]["id"])

    @property
    def path(self) -> str:
        return f"/{PATHS[self.execution['kind']]}/{self.id}"

    @property
    def phase(self) -> str:
        return str(self.execution["status"]["phase"])


class Protocol:
    """Speaks to one server as one service."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def claim(self, labels: dict[str, str], wait_seconds: int) -> Held | None:
        """The oldest waiting execution, or None after the wait."""
        body = {
            "kinds": ["workflow_execution", "agent_execution"], "lease_seconds": LEASE,
            "wait_seconds": wait_seconds, "labels": labels,
        }  # fmt: skip
        answer = self._send("POST", "/runner/claim", json=body)
        if answer.status_code == 204:
            return None
        made = answer.json()
        held = Held(made["execution"], made["claim_token"], made["claim_attempt"])
        held.tasks = list(held.execution["status"]["tasks"])
        return held

    def report(self, held: Held, events: list[dict[str, Any]] | None = None, **status: Any) -> None:
        """Say what happened; the log's numbers go on where the last runner stopped."""
        numbered = []
        for event in events or []:
            held.sequence += 1
            numbered.append({"sequence_number": held.sequence, **event})
        body: dict[str, Any] = {"claim_token": held.token, "status": status}
        if numbered:
            body["events"] = numbered
        answer = self._send("POST", f"{held.path}/status", json=body)
        held.execution = answer.json()["execution"]

    def last_sequence(self, held: Held) -> int:
        """The last number in the log of this execution."""
        last = 0
        while True:
            query = {"after_sequence": last, "page_size": 500}
            page = self._send("GET", f"{held.path}/events", params=query).json()
            last = page["latest_sequence"] or last
            if not page["has_more"]:
                return last

    def heartbeat(self, held: Held) -> None:
        """Keep the lease."""
        body = {"claim_token": held.token, "lease_seconds": LEASE}
        self._send("POST", f"/runner/executions/{held.id}/heartbeat", json=body)

    def inbox(self, held: Held, wait_seconds: int) -> Iterator[dict[str, Any]]:
        """What the runner is told, one by one; what was handed out is acknowledged next time."""
        answer = self._send(
            "GET",
            f"/runner/executions/{held.id}/signals",
            params={"after": held.acknowledged, "wait_seconds": wait_seconds},
            headers={"X-Stigmer-Claim-Token": held.token},
        )
        for entry in answer.json()["items"]:
            yield entry
            held.acknowledged = entry["sequence"]

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            answer = self.client.request(method, f"/api/v1{path}", timeout=60, **more)
        except httpx.HTTPError as cause:
            raise ServerError(f"{type(cause).__name__}: {cause}") from cause
        if answer.is_success:
            return answer
        problem = answer.json()
        if problem["code"] in ("claim_lost", "invalid_transition"):
            raise LostError(problem["detail"])
        raise ServerError(f"{answer.status_code} {problem['code']}: {problem['detail']}")
