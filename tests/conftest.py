"""What every test has: the product's settings and, without DATABASE_URL, a server of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from stigmer import embedded
from stigmer.core.callers import Caller

LENGTHY = {"slow", "faults", "long"}


def pytest_configure(config: pytest.Config) -> None:
    # pytest-xdist's workers end without a goodbye; the process that began them holds the server.
    if settings.STIGMER_EMBEDDED and not hasattr(config, "workerinput"):
        embedded.hold(settings.STIGMER_HOME, careless=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What takes long begins first, so that no worker is left alone with it at the end.
    items.sort(key=lambda item: not (LENGTHY & {mark.name for mark in item.iter_markers()}))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty STIGMER_HOME whose server, if the test leaves one, is stopped."""
    yield tmp_path / "home"
    embedded.release(tmp_path / "home")


@pytest.fixture
def cast(db: None) -> dict[str, Caller]:
    """alice owns acme, bob is a member, vera views, mallory is a stranger, root is an admin."""
    from tests import factories

    return factories.the_cast()


@pytest.fixture
def as_(cast: dict[str, Caller]) -> Callable[[str | None], Any]:
    """`as_("alice").post("/organizations", json={...}, key="k")`; `as_(None)` has no token."""
    from tests import factories

    return factories.Doors()


@pytest.fixture
def server(transactional_db: None) -> Iterator[str]:
    """The address of a web process of its own on the test's database."""
    from tests import served

    with served.web_process() as address:
        yield address
