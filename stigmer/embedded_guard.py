"""`python -m stigmer.embedded_guard FOLDER`: an embedded PostgreSQL that ends is started again."""

import subprocess
import sys
import time
from pathlib import Path

from stigmer import embedded

CHECK_SECONDS = 1.0


def main() -> int:
    """Watch until ended by a signal; 1 when the server cannot be started again."""
    home = Path(sys.argv[1])
    try:
        embedded.hold(home)
        while True:
            time.sleep(CHECK_SECONDS)
            if embedded.revive(home):
                say("PostgreSQL had ended; it was started again.")
    except (embedded.EmbeddedDatabaseFailed, OSError, subprocess.TimeoutExpired) as fault:
        say(str(fault))
        return 1


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
