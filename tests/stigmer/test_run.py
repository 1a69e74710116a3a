"""`python -m stigmer.run`: the whole product."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.newcomer import free_port, plain_environment, try_twice

PROJECT = Path(__file__).parent.parent.parent
RUN = [sys.executable, "-m", "stigmer.run"]


def run(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        RUN,
        cwd=PROJECT,
        env=plain_environment() | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_runs_ends_and_continues_with_the_same_data(home: Path) -> None:
    try_twice(RUN, PROJECT, home)


def test_a_taken_port_is_told_before_anything_starts(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        done = run(PORT=port, STIGMER_HOME=str(home))

    assert done.returncode == 1
    assert done.stderr == f"Port {port} is taken. Choose another: PORT=8001 make run\n"
    assert not (home / "postgresql").exists()


def test_a_wrong_setting_is_told_in_a_sentence(home: Path) -> None:
    done = run(PORT="eight", STIGMER_HOME=str(home))

    assert done.returncode == 1
    assert "PORT must be a whole number from 1 to 65535, not 'eight'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_is_not_there_is_told(home: Path) -> None:
    done = run(
        PORT=str(free_port()),
        STIGMER_HOME=str(home),
        STIGMER_ENV="development",
        DATABASE_URL=f"postgresql://nobody@127.0.0.1:{free_port()}/nothing",
    )

    assert done.returncode == 1
    assert "The database could not be prepared; the reason is above." in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "The database does not answer" in done.stdout
