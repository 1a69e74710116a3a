"""The embedded PostgreSQL."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from stigmer import embedded

PROJECT = Path(__file__).parent.parent.parent
SOCKET_LOCK = ".s.PGSQL.5432.lock"
HOLDER = """
import sys
from pathlib import Path
from stigmer import embedded
embedded.hold(Path(sys.argv[1]), careless=sys.argv[2] == "careless")
print("held", flush=True)
sys.stdin.read()
"""


def connect(home: Path) -> psycopg.Connection[Any]:
    parts = embedded.connection_parts(home)
    return psycopg.connect(
        host=parts["HOST"], user=parts["USER"], dbname=parts["NAME"], port=parts["PORT"]
    )


def query(home: Path, text: str) -> Any:
    with connect(home) as connection:
        row = connection.execute(text).fetchone()  # type: ignore[call-overload]
    return row[0] if row else None


def answers(home: Path) -> bool:
    try:
        return bool(query(home, "SELECT true"))
    except psycopg.OperationalError:
        return False


def postmaster(home: Path) -> int:
    return int((embedded.data_folder(home) / "postmaster.pid").read_text().split()[0])


def holder(home: Path, manner: str = "careless") -> subprocess.Popen[str]:
    """Another process that uses the server until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home), manner],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def finish(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=20)


def test_keeps_its_data_from_start_to_start(home: Path) -> None:
    embedded.hold(home, careless=True)
    with connect(home) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")

    embedded.release(home)
    assert not answers(home)
    embedded.hold(home, careless=True)

    assert query(home, "SELECT number FROM kept") == 7


def test_is_postgresql_18_with_unicode_rules_and_code_point_order(home: Path) -> None:
    embedded.hold(home, careless=True)

    assert query(home, "SHOW server_version").startswith("18.")
    assert query(home, "SELECT lower('ÄÖÜ')") == "äöü"
    assert query(home, "SELECT 'Z' < 'a'") is True


def test_listens_on_no_network_address(home: Path) -> None:
    embedded.hold(home, careless=True)

    assert query(home, "SHOW listen_addresses") == ""


def test_survives_a_power_cut_unless_told_otherwise(home: Path) -> None:
    embedded.hold(home)

    assert query(home, "SHOW fsync") == "on"


def test_ends_with_its_last_user(home: Path) -> None:
    first, second = holder(home), holder(home)

    finish(first)
    assert answers(home)
    finish(second)

    assert not answers(home)


def test_a_lone_command_leaves_the_server_of_others_running(home: Path) -> None:
    product = holder(home)
    number = postmaster(home)

    finish(holder(home))

    assert postmaster(home) == number
    assert answers(home)
    finish(product)


def test_a_killed_user_counts_no_longer(home: Path) -> None:
    killed = holder(home)
    killed.kill()
    finish(killed)
    assert answers(home)

    finish(holder(home))

    assert not answers(home)


def test_starts_after_the_server_was_killed(home: Path) -> None:
    killed = holder(home, "careful")
    with connect(home) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    os.kill(postmaster(home), signal.SIGKILL)
    finish(killed)

    embedded.hold(home, careless=True)

    assert query(home, "SELECT number FROM kept") == 7


def test_is_started_again_after_it_was_killed(home: Path) -> None:
    embedded.hold(home)
    with connect(home) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    os.kill(postmaster(home), signal.SIGKILL)
    while answers(home):
        time.sleep(0.05)

    assert embedded.revive(home)

    assert query(home, "SELECT number FROM kept") == 7


def test_a_living_server_is_left_alone(home: Path) -> None:
    embedded.hold(home, careless=True)
    before = postmaster(home)

    assert not embedded.revive(home)

    assert postmaster(home) == before


def test_a_guard_starts_it_again_and_ends_at_a_signal(home: Path) -> None:
    embedded.hold(home, careless=True)
    command = [sys.executable, "-m", "stigmer.embedded_guard", str(home)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as guard:
        assert guard.stdout is not None
        told = ""
        # Killed before the guard watches, the server is started by the guard's own hold, untold.
        for _ in range(12):
            with contextlib.suppress(ProcessLookupError):
                os.kill(postmaster(home), signal.SIGKILL)
            if select.select([guard.stdout], [], [], 5)[0]:
                told = guard.stdout.readline()
                break
        guard.terminate()

    assert told == "PostgreSQL had ended; it was started again.\n"
    assert guard.returncode == -signal.SIGTERM
    assert answers(home)


def test_stale_pid_files_may_name_a_living_stranger(home: Path) -> None:
    embedded.hold(home, careless=True)
    data = embedded.data_folder(home)
    kept = {file: file.read_text() for file in (data / "postmaster.pid", data / SOCKET_LOCK)}
    embedded.release(home)
    # Of the server's own account: PostgreSQL itself disregards processes of others.
    account = {"user": data.stat().st_uid} if os.geteuid() == 0 else {}
    stranger = subprocess.Popen(["sleep", "60"], **account)
    for file, text in kept.items():
        file.write_text(text.replace(text.split("\n")[0], str(stranger.pid), 1))

    embedded.hold(home, careless=True)

    assert answers(home)
    stranger.kill()
    stranger.wait()


def test_begins_anew_when_making_the_data_was_cut_short(home: Path) -> None:
    half = home / "postgresql.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18")

    embedded.hold(home, careless=True)

    assert answers(home)
    assert not half.exists()


def test_a_long_home_gets_a_short_socket_folder(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 30)
    sockets = embedded.socket_folder(home)
    assert len(os.fsencode(sockets)) < 60

    embedded.hold(home, careless=True)

    assert answers(home)
    embedded.release(home)
    assert not sockets.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has closed folders to let a server past")
def test_root_starts_it_behind_a_closed_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    closed.chmod(0o700)

    embedded.hold(closed / "home", careless=True)

    assert answers(closed / "home")
    assert closed.stat().st_mode & 0o777 == 0o700
    embedded.release(closed / "home")


def test_many_first_users_at_once_make_one_server(home: Path) -> None:
    began = time.monotonic()

    users = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(home), "careless"],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    heard = [user.stdout.readline() for user in users if user.stdout]

    assert heard == ["held\n"] * 4
    assert answers(home)
    for user in users:
        finish(user)
    assert not answers(home)
    assert time.monotonic() - began < 60


def test_says_what_is_missing_without_the_wheel(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(embedded.EmbeddedDatabaseFailed, match="set DATABASE_URL"):
        embedded.hold(home)

    assert not embedded.data_folder(home).exists()
