"""Who is signed in to the console, and what there is to see."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from organizations.models import Principal
from stigmer.core.callers import Caller
from tests import factories
from tests.console.items import Open


@pytest.fixture
def signed_in(cast: dict[str, Caller]) -> Callable[..., Client]:
    """`signed_in("vera", "workitems.view_workitem")`: a staff member with these permissions."""

    def sign_in(name: str, *permissions: str, staff: bool = True) -> Client:
        principal = Principal.objects.get(name=name)
        if staff and not principal.is_staff:
            principal.is_staff = True
            principal.save(update_fields=["is_staff"])
        for permission in permissions:
            app, codename = permission.split(".")
            principal.user_permissions.add(
                Permission.objects.get(content_type__app_label=app, codename=codename)
            )
        client = Client()
        client.force_login(principal)
        return client

    return sign_in


@pytest.fixture
def root(signed_in: Callable[..., Client]) -> Client:
    """The platform admin at the console."""
    return signed_in("root")


@pytest.fixture
def open_item(cast: dict[str, Caller]) -> Open:
    """`open_item(title="…")` answers the id of a new item of alice in acme."""
    return Open(factories.act)
