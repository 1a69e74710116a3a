"""The supervisor: children start together and end together."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent
PROGRAM = """
import os, sys
from stigmer import supervise
supervise.GRACE_SECONDS = 1.0
supervisor = supervise.Supervisor()
supervisor.catch_signals()
for number, code in enumerate(sys.argv[1:]):
    supervisor.start(f"child{number}", [sys.executable, "-uc", code], dict(os.environ))
sys.exit(supervisor.wait())
"""
TELLS = "import os, time; print('pid', os.getpid()); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {TELLS}"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-uc', {TELLS!r}])"
FAILS = "import time, sys; time.sleep(1); sys.exit(7)"
LEAVES = "import time, sys; time.sleep(1); sys.exit(0)"


def supervise(*children: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), *children],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str], count: int) -> list[int]:
    """The process ids that the children print."""
    assert process.stdout is not None
    return [int(process.stdout.readline().split()[-1]) for _ in range(count)]


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def all_gone(numbers: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(map(alive, numbers)):
        time.sleep(0.05)
    return not any(map(alive, numbers))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_every_child(number: signal.Signals) -> None:
    process = supervise(TELLS, TELLS)
    children = told(process, 2)

    process.send_signal(number)

    process.communicate(timeout=10)
    assert process.returncode == 0
    assert all_gone(children, 1)


def test_a_stubborn_child_is_killed() -> None:
    process = supervise(STUBBORN, TELLS)
    children = told(process, 2)

    process.terminate()

    process.communicate(timeout=10)
    assert all_gone(children, 1)


def test_what_a_child_started_ends_too() -> None:
    process = supervise(PARENT)
    grandchild = told(process, 1)

    process.terminate()

    process.communicate(timeout=10)
    assert all_gone(grandchild, 1)


@pytest.mark.parametrize(("code", "status"), [(FAILS, 7), (LEAVES, 0)])
def test_a_lost_child_ends_the_rest_and_fails(code: str, status: int) -> None:
    process = supervise(TELLS, code)
    children = told(process, 1)

    output, _ = process.communicate(timeout=15)

    assert process.returncode == 1
    assert f"child1 ended with status {status}; stopping the rest." in output
    assert all_gone(children, 1)


def test_each_line_stands_behind_its_childs_name() -> None:
    process = supervise("print('hello')")

    output, _ = process.communicate(timeout=15)

    assert "child0 | hello\n" in output


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a promise of Linux' kernel")
def test_children_end_when_the_supervisor_is_killed() -> None:
    process = supervise(TELLS, TELLS)
    children = told(process, 2)

    os.kill(process.pid, signal.SIGKILL)

    process.communicate(timeout=10)
    assert all_gone(children, 5)
