"""What every test has: the product's settings and, without DATABASE_URL, a server of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from stigmer import embedded


def pytest_configure() -> None:
    if settings.STIGMER_EMBEDDED:
        embedded.hold(settings.STIGMER_HOME, careless=True)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty STIGMER_HOME whose server, if the test leaves one, is stopped."""
    yield tmp_path / "home"
    embedded.release(tmp_path / "home")
