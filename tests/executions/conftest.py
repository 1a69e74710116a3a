"""What the tests of executions share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import served
from tests.executions import making, watching


@pytest.fixture
def engine(settings: Any) -> Iterator[making.FakeEngine]:
    """A push engine that the test looks into."""
    with making.push_engine(settings) as fake:
        yield fake


@pytest.fixture
def no_engine(settings: Any) -> None:
    """No engine is connected."""
    settings.STIGMER_ENGINE = "none"


@pytest.fixture(scope="session")
def web(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """The address of one web process for the whole session, on the tests' database."""
    process = served.web_process()
    with django_db_blocker.unblock():
        address = process.__enter__()
    yield address
    with django_db_blocker.unblock():
        process.__exit__(None, None, None)


@pytest.fixture
def live(transactional_db: None, cast: Any, web: str) -> Iterator[watching.Live]:
    """The web process with the cast in its database."""
    client = watching.Live(web)
    yield client
    client.close()
