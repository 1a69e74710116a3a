"""The settings of the tests: the product's own, in a home that no user has."""

import atexit
import os
import shutil
import tempfile


def _forget(home: str, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(home, ignore_errors=True)


os.environ.setdefault("STIGMER_ENV", "development")
os.environ.setdefault("STIGMER_THROTTLE", "off")
os.environ.setdefault("STIGMER_LOG_LEVEL", "WARNING")
if "STIGMER_TEST_HOME" not in os.environ:
    # Processes that the tests start (pytest-xdist's workers too) share the first one's home.
    os.environ["STIGMER_TEST_HOME"] = tempfile.mkdtemp(prefix="stigmer-tests-")
    atexit.register(_forget, os.environ["STIGMER_TEST_HOME"], os.getpid())
os.environ["STIGMER_HOME"] = os.environ["STIGMER_TEST_HOME"]

from stigmer.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# A test client loads the middleware anew: it must not list every static file each time.
WHITENOISE_AUTOREFRESH = True
