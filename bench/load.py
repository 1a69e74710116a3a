"""Load from several processes: as many clients as asked, each with one connection of its own."""

from __future__ import annotations

import multiprocessing
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

PROCESSES = 2

# Makes one client: called in its thread, answers the function that does one call.
Maker = Callable[[int], Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run of `seconds` gave: calls per second and latencies in milliseconds."""

    rate: float
    p50: float
    p95: float
    calls: int


def measure(maker: Maker, *, clients: int, seconds: float) -> Measured:
    """Run this many clients for this long, after a tenth of it to warm up."""
    context = multiprocessing.get_context("fork")
    parts = [clients // PROCESSES + (n < clients % PROCESSES) for n in range(PROCESSES)]
    barrier = context.Barrier(sum(1 for part in parts if part))
    queue: Any = context.Queue()
    workers = [
        context.Process(target=_process, args=(maker, part, n * 1000, seconds, barrier, queue))
        for n, part in enumerate(parts)
        if part
    ]
    for worker in workers:
        worker.start()
    results = [queue.get(timeout=seconds * 3 + 60) for _ in workers]
    for worker in workers:
        worker.join()
    faults = [fault for _, fault in results if fault]
    if faults:
        raise RuntimeError(faults[0])
    times = sorted(t for taken, _ in results for t in taken)
    return Measured(
        rate=len(times) / seconds,
        p50=1000 * times[len(times) // 2],
        p95=1000 * times[int(len(times) * 0.95)],
        calls=len(times),
    )


def _process(
    maker: Maker, clients: int, first: int, seconds: float, barrier: Any, queue: Any
) -> None:
    taken: list[float] = []
    faults: list[str] = []
    ready = threading.Barrier(clients + 1)

    def client(number: int) -> None:
        try:
            call = maker(number)
            for _ in range(5):
                call()
            ready.wait()
            ready.wait()
            began = time.perf_counter()
            start, end = began + seconds / 10, began + seconds * 1.1
            while (before := time.perf_counter()) < end:
                call()
                after = time.perf_counter()
                if before >= start and after < end:
                    taken.append(after - before)
        except Exception as cause:  # noqa: BLE001 the parent tells it
            faults.append(f"{type(cause).__name__}: {cause}")
            ready.abort()

    threads = [threading.Thread(target=client, args=(first + n,)) for n in range(clients)]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
        barrier.wait()
        ready.wait()
    except threading.BrokenBarrierError:
        pass
    for thread in threads:
        thread.join()
    queue.put((taken, faults[0] if faults else ""))


class Connection:
    """One keep-alive HTTP/1.1 connection that costs the client next to nothing."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.common = f"Host: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
        self.buffer = b""

    def send(
        self, method: str, path: str, body: bytes = b"", headers: str = ""
    ) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        head = f"{method} {path} HTTP/1.1\r\n{self.common}{headers}"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.socket.sendall(head.encode() + b"\r\n" + body)
        return self._answer()

    def _answer(self) -> tuple[int, bytes]:
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            self.buffer += self._more()
        head, self.buffer = self.buffer[:end], self.buffer[end + 4 :]
        status = int(head[9:12])
        lowered = head.lower()
        place = lowered.find(b"content-length:")
        length = 0 if place < 0 else int(lowered[place + 15 :].split(b"\r\n", 1)[0])
        while len(self.buffer) < length:
            self.buffer += self._more()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return status, body

    def _more(self) -> bytes:
        more = self.socket.recv(65536)
        if not more:
            raise ConnectionError("the server closed the connection")
        return more


def endless(values: list[Any], start: int) -> Iterator[Any]:
    """These values again and again, from a place of this client's own."""
    place = start % len(values)
    while True:
        yield values[place]
        place = (place + 7) % len(values)
