"""Which account runs the embedded PostgreSQL: PostgreSQL itself refuses to run as root."""

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

ACCOUNTS = ("postgres", "nobody")


@dataclass(frozen=True)
class Owner:
    """An account, and how a command becomes that account's."""

    uid: int
    gid: int
    walled: bool = False  # its way to the folders is closed to it

    @property
    def foreign(self) -> bool:
        return self.uid != os.geteuid()

    def run(
        self, command: list[str], seconds: int, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end; both outputs in `stdout`."""
        kind: dict[str, object] = {}
        if self.foreign and self.walled:
            command = [*self._past_walls(), *command]
        elif self.foreign:
            kind = {"user": self.uid, "group": self.gid, "extra_groups": []}
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            command,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            cwd="/",
            env={key: value for key, value in os.environ.items() if not key.startswith("PG")},
            check=False,
            **kind,
        )

    def make_folder(self, path: Path) -> None:
        """A folder that this account alone may enter."""
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (self.uid, os.geteuid()):
            raise PermissionError(f"{path} is not a folder of this account")
        if found.st_uid != self.uid:
            os.chown(path, self.uid, self.gid)
        path.chmod(0o700)

    def write(self, path: Path, text: str) -> None:
        path.write_text(text)
        if self.foreign:
            os.chown(path, self.uid, self.gid)

    def remove(self, path: Path) -> None:
        if path.exists():
            shutil.rmtree(path)

    def _past_walls(self) -> list[str]:
        # A home such as /root is closed to every other account. Opening it for the server would
        # open it for everybody, so the server alone is let past.
        return [
            shutil.which("setpriv") or "setpriv",
            f"--reuid={self.uid}",
            f"--regid={self.gid}",
            "--clear-groups",
            "--inh-caps=+dac_override",
            "--ambient-caps=+dac_override",
        ]


def chosen_owner(data: Path, binaries: Path) -> Owner:
    """Our own account, or for root the one whose the data is, else an unprivileged one."""
    euid = os.geteuid()
    owner = data.stat().st_uid if data.exists() else None
    if euid != 0:
        if owner not in (None, euid):
            raise PermissionError(
                f"The data folder {data} belongs to another account (number {owner}): "
                "run as that account, or set STIGMER_HOME."
            )
        return Owner(euid, os.getegid())
    uid, gid = (owner, data.stat().st_gid) if owner else _unprivileged()
    return Owner(uid, gid, walled=_walled(data.parent) or _walled(binaries / "postgres"))


def _unprivileged() -> tuple[int, int]:
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    return 65534, 65534


def _walled(path: Path) -> bool:
    """Whether an account without rights of its own is kept from this path."""
    places = [path, *path.parents]
    return not all(place.stat().st_mode & stat.S_IXOTH for place in places)
