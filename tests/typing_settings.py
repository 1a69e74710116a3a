"""The settings that mypy reads; they make no home, since mypy ends without cleaning up."""

from tests.offline import pretend

pretend()

from stigmer.settings import *  # noqa: F403
