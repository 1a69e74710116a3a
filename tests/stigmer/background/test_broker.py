"""Messages as files: whole, in order, each taken once."""

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from stigmer.background.broker import Channel, Transport


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Channel]:
    folder = tmp_path / "messages"
    folder.mkdir()
    options = {"data_folder_in": str(folder), "data_folder_out": str(folder)}
    options["control_folder"] = str(tmp_path / "control")
    with Connection(transport=Transport, transport_options=options) as connection:
        yield connection.channel()


def test_gives_messages_of_a_queue_in_order(channel: Channel) -> None:
    for number in range(3):
        channel._put("celery", {"number": number})
    channel._put("other", {"number": 9})

    assert [channel._get("celery")["number"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Empty):
        channel._get("celery")


def test_leaves_no_file_of_a_taken_message(channel: Channel) -> None:
    channel._put("celery", {})
    channel._get("celery")

    assert list(Path(channel.data_folder_in).iterdir()) == []


def test_racing_workers_take_each_message_once_and_whole(channel: Channel) -> None:
    taken: list[Any] = []
    done = threading.Event()

    def work() -> None:
        while True:
            try:
                taken.append(channel._get("celery")["number"])
            except Empty:
                if done.is_set():
                    return

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for number in range(200):
        channel._put("celery", {"number": number, "long": "x" * 5000})
    done.set()
    for worker in workers:
        worker.join()

    assert sorted(taken) == list(range(200))
