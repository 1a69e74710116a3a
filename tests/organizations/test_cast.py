"""The cast is what its names say."""

import pytest

from stigmer.core.callers import SYSTEM, Caller
from tests import factories

pytestmark = pytest.mark.django_db


def test_the_cast_holds_its_roles(cast: dict[str, Caller]) -> None:
    assert {name: dict(one.roles) for name, one in cast.items()} == {
        "alice": {"acme": "owner"},
        "bob": {"acme": "member"},
        "vera": {"acme": "viewer"},
        "mallory": {"globex": "owner"},
        "root": {},
        "service:dispatcher": {"acme": "member"},
        "surface:telegram": {},
    }
    assert [name for name, one in cast.items() if one.platform_admin] == ["root"]


def test_the_platform_has_a_principal_of_its_own() -> None:
    assert factories.caller(SYSTEM.name).kind == "service"
