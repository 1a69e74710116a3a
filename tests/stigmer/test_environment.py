"""Secrets that are made once."""

import threading
from pathlib import Path

from stigmer.environment import kept_secret, new_secret_key


def test_racing_first_readers_get_one_secret(tmp_path: Path) -> None:
    barrier = threading.Barrier(16)
    found: list[str] = []

    def read() -> None:
        barrier.wait()
        found.append(kept_secret(tmp_path / "home" / "key", new_secret_key))

    threads = [threading.Thread(target=read) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 16
    assert len(set(found)) == 1
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["key"]
