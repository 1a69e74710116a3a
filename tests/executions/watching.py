"""A client of event streams and long polls over a real connection."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx
from django.db import connection

from tests import factories

PATIENCE = 15.0


class Frame(NamedTuple):
    """One server-sent event, comment (`data` is None) or hint."""

    id: int | None
    data: Any
    comment: bool = False
    retry: int | None = None


@dataclass
class Live:
    """The web process, spoken to by members of the cast."""

    address: str
    tokens: dict[str, str] = field(default_factory=dict)
    watchers: list[Watcher] = field(default_factory=list)

    def headers(self, name: str, **more: str) -> dict[str, str]:
        if name not in self.tokens:
            self.tokens[name] = factories.make_token(name)
        extra = {key.replace("_", "-"): value for key, value in more.items()}
        return {"Authorization": f"Bearer {self.tokens[name]}", **extra}

    def send(self, name: str, method: str, path: str, **more: Any) -> httpx.Response:
        headers = self.headers(name) | more.pop("headers", {})
        return httpx.request(
            method, f"{self.address}/api/v1{path}", headers=headers, timeout=40, **more
        )

    def get(self, name: str, path: str, **more: Any) -> httpx.Response:
        return self.send(name, "GET", path, **more)

    def watch(self, name: str, path: str, **headers: str) -> Watcher:
        self.watchers.append(Watcher(self.address, f"/api/v1{path}", self.headers(name, **headers)))
        return self.watchers[-1]

    def close(self) -> None:
        """Nobody watches any more."""
        for watcher in self.watchers:
            watcher.kill()

    def gauge(self) -> int:
        """How many streams the process counts."""
        for line in httpx.get(f"{self.address}/metrics").text.splitlines():
            if line.startswith("stigmer_streams_open "):
                return int(float(line.split()[1]))
        raise AssertionError("no such gauge")


class Watcher:
    """One open stream; frames are read as they come."""

    def __init__(self, address: str, path: str, headers: dict[str, str]) -> None:
        place = urllib.parse.urlsplit(address)
        self.socket = socket.create_connection((place.hostname, place.port), PATIENCE)
        lines = [f"GET {path} HTTP/1.1", f"Host: {place.netloc}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers: dict[str, str] = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode().partition(": ")
            self.headers[name.lower()] = value
        self._text = b""
        self.ended = False

    def kill(self) -> None:
        """Vanish without a word more."""
        self.file.close()
        self.socket.close()

    def _chunk(self) -> bool:
        size = self.file.readline()
        if not size or not (length := int(size, 16)):
            self.ended = True
            return False
        self._text += self.file.read(length + 2)[:-2]
        return True

    def next(self) -> Frame | None:
        """The next frame, or None at the end."""
        while b"\n\n" not in self._text:
            if not self._chunk():
                return None
        text, _, self._text = self._text.partition(b"\n\n")
        return parsed(text.decode())

    def said(self) -> Iterator[Frame]:
        """Every event until the end, without comments and hints."""
        while (found := self.next()) is not None:
            if found.data is not None:
                yield found

    def take(self, count: int) -> list[Frame]:
        """The next events."""
        found = self.said()
        return [next(found) for _ in range(count)]


def parsed(text: str) -> Frame:
    id, data, retry = None, None, None
    for line in text.split("\n"):
        name, _, value = line.partition(":")
        if name == "id":
            id = int(value)
        elif name == "data":
            data = json.loads(value)
        elif name == "retry":
            retry = int(value)
    return Frame(id, data, comment=text.startswith(":"), retry=retry)


class InThread:
    """A call on its way; `result()` awaits it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._found: Any = None

        def run() -> None:
            try:
                self._found = call()
            except Exception as raised:  # noqa: BLE001 the test looks at it
                self._found = raised
            finally:
                connection.close()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def result(self) -> Any:
        self._thread.join(40)
        assert not self._thread.is_alive(), "the call does not come back"
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


def until(true: Callable[[], bool], seconds: float = 30) -> float:
    """How long it took until this was true."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds, "it did not become true"
        time.sleep(0.05)
    return time.monotonic() - began
