"""Sends requests to a running server, and again with the same key when the network fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import httpx
import msgspec

ATTEMPTS = 6
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# These do the same thing once or twice; anything else needs a key to be sent again.
REPEATABLE = ("GET", "PUT", "DELETE")


class ServerAwayError(Exception):
    """The server does not answer; the message says what to do."""


class Sent(NamedTuple):
    """What a request was answered: its status, its code if it was refused, and the JSON."""

    status: int
    code: str
    answer: Any

    @property
    def detail(self) -> str:
        """Why it was refused, or an empty text."""
        return str(self.answer.get("detail", "")) if isinstance(self.answer, dict) else ""


class Sender:
    """One server and the tokens of those who speak to it; safe to share between threads."""

    def __init__(
        self,
        url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url.rstrip("/")
        self.tokens: Mapping[str, str] = {}
        self.pause = pause
        self.client = httpx.Client(
            base_url=self.url,
            transport=transport,
            timeout=30,
            # A proxy of the environment does not lead to this machine.
            trust_env=httpx.URL(self.url).host not in LOOPBACK,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def need_server(self) -> None:
        """Raises ServerAwayError when stigmer does not run there."""
        try:
            status = self.client.get("/healthz").status_code
        except httpx.HTTPError as cause:
            raise ServerAwayError(
                f"No server answers at {self.url} ({cause or type(cause).__name__}). "
                "Start it with `make run`, or name another with --url."
            ) from None
        if status != 200:
            raise ServerAwayError(
                f"{self.url}/healthz answers {status}: this is not a running stigmer."
            )

    def need_tokens(self) -> None:
        """Raises ServerAwayError when the server does not know the tokens just made."""
        for name in list(self.tokens)[:1]:
            if self.send(name, "GET", "/api/v1/whoami").status == 401:
                raise ServerAwayError(
                    f"The server at {self.url} does not know the tokens that this command made: "
                    "it uses another database. Give both the same DATABASE_URL or STIGMER_HOME."
                )

    def send(
        self, principal: str, method: str, path: str, body: Any = None, key: str | None = None
    ) -> Sent:
        """One request, repeated with the same key while the network or the server is away.

        Raises ServerAwayError when the attempts are used up, or when repeating could do it twice.
        """
        headers = [(b"Authorization", f"Bearer {self.tokens[principal]}".encode())]
        if key is not None:
            headers.append((b"Idempotency-Key", key.encode()))
        content = None
        if body is not None:
            headers.append((b"Content-Type", b"application/json"))
            content = msgspec.json.encode(body)
        request = self.client.build_request(method, path, headers=headers, content=content)
        repeatable = method in REPEATABLE or key is not None
        for attempt in range(1, ATTEMPTS + 1):
            response, cause = self._try(request)
            if response is not None and response.status_code not in (429, 503):
                return _sent(response)
            # Refused, or never connected: nothing was written, whatever it was.
            harmless = response is not None or isinstance(cause, httpx.ConnectError)
            if attempt == ATTEMPTS or not (repeatable or harmless):
                break
            self.pause(_seconds(response, attempt))
        if response is not None:
            return _sent(response)
        raise ServerAwayError(
            f"{method} {path} had no answer after {attempt} attempts "
            f"({cause or type(cause).__name__}). "
            "What was answered before stays; run the command again to go on."
        )

    def _try(self, request: httpx.Request) -> tuple[httpx.Response | None, Exception | None]:
        try:
            return self.client.send(request), None
        except httpx.TransportError as cause:
            return None, cause


def _seconds(response: httpx.Response | None, attempt: int) -> float:
    asked = "" if response is None else response.headers.get("Retry-After", "")
    return min(60.0, float(asked)) if asked.isdigit() else 0.1 * 2.0**attempt


def _sent(response: httpx.Response) -> Sent:
    try:
        answer = response.json() if response.content else None
    except ValueError:
        answer = None
    code = answer.get("code", "") if isinstance(answer, dict) and response.is_error else ""
    return Sent(response.status_code, code, answer)
