"""What the tests of executions share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.executions import making


@pytest.fixture
def engine(settings: Any) -> Iterator[making.FakeEngine]:
    """A push engine that the test looks into."""
    with making.push_engine(settings) as fake:
        yield fake


@pytest.fixture
def no_engine(settings: Any) -> None:
    """No engine is connected."""
    settings.STIGMER_ENGINE = "none"
