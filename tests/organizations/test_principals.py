"""Principals: who they are for good, and what the database keeps."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import Error, IntegrityError, transaction

from organizations.errors import PrincipalNotFound
from organizations.models import Principal
from organizations.operations import principals
from stigmer.core.callers import SYSTEM, Caller, system_act
from stigmer.core.errors import AlreadyExists, InvalidRequest
from tests.factories import act, make_principal, now, race

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "name", ["alice", "github:alice", "service:dispatcher", "Ünï 東京", "a" * 256, "a/b?c"]
)
def test_a_name_is_kept_as_it_is(name: str) -> None:
    assert make_principal(name).name == name


@pytest.mark.parametrize(
    "name", ["", " ", " a", "a ", "a\n", "a\x00b", "a\x7f", "é" * 129, "a\u2028b", "\ud800"]
)
def test_refuses_another_name(name: str) -> None:
    before = Principal.objects.count()

    with pytest.raises(InvalidRequest) as caught:
        make_principal(name)

    assert caught.value.pointer == "/name"
    assert Principal.objects.count() == before


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "robot"},
        {"kind": "surface", "admin": True},
        {"kind": "service", "password": "correct horse battery"},
        {"kind": "surface", "display_name": "Telegram"},
        {"kind": "service", "email": "a@example.org"},
        {"kind": "human", "password": "short"},
        {"kind": "human", "password": "password123"},
    ],
)
def test_refuses_what_a_kind_has_not(facts: dict[str, Any]) -> None:
    before = Principal.objects.count()

    with pytest.raises(InvalidRequest):
        principals.create_principal(name="new", by=system_act(), now=now(), **facts)

    assert Principal.objects.count() == before


def test_a_name_is_given_once_whatever_became_of_its_principal(cast: dict[str, Caller]) -> None:
    principals.deactivate(principal="bob", by=act("root"), now=now())

    with pytest.raises(AlreadyExists):
        make_principal("bob")

    assert Principal.objects.filter(name="bob").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_sixteen_creations_of_one_name_one_wins() -> None:
    results = race(*[lambda: make_principal("wanted")] * 16)

    assert [type(result) for result in results].count(Caller) == 1
    assert [type(result) for result in results].count(AlreadyExists) == 15


def test_a_human_admin_signs_in_to_the_console_and_a_service_does_not() -> None:
    make_principal("boss", admin=True)
    make_principal("service:x", "service", admin=True)

    rows = Principal.objects.filter(is_superuser=True).values_list("name", "is_staff")

    assert dict(rows) == {"boss": True, "service:x": False}


def test_without_a_password_nobody_can_sign_in() -> None:
    make_principal("alice")

    assert not Principal.objects.get(name="alice").has_usable_password()
    assert not Principal.objects.get(name=SYSTEM.name).has_usable_password()


@pytest.mark.parametrize(
    "change", [{"name": "other"}, {"kind": "service"}, {"id": "prn_01jjwz3k8nf2m9v4c7x6t5q0ra"}]
)
def test_the_database_keeps_who_somebody_is(
    cast: dict[str, Caller], change: dict[str, str]
) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Principal.objects.filter(name="bob").update(**change)

    assert Principal.objects.filter(name="bob", kind="human", id=cast["bob"].id).exists()


def test_the_database_deletes_nobody(cast: dict[str, Caller]) -> None:
    make_principal("lonely")

    with pytest.raises(Error, match="Cannot delete"), transaction.atomic():
        Principal.objects.filter(name="lonely").delete()

    assert Principal.objects.filter(name="lonely").exists()


@pytest.mark.parametrize(
    ("who", "change"),
    [
        ("surface:telegram", {"is_superuser": True}),
        ("surface:telegram", {"is_staff": True}),
        ("service:dispatcher", {"display_name": "D"}),
        ("bob", {"kind": "robot"}),
    ],
)
def test_the_database_keeps_what_a_kind_has_not(
    cast: dict[str, Caller], who: str, change: dict[str, Any]
) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Principal.objects.filter(name=who).update(**change)


def test_the_platforms_own_principal_stays_active() -> None:
    with pytest.raises(InvalidRequest):
        principals.deactivate(principal=SYSTEM.name, by=system_act(), now=now())

    assert Principal.objects.get(name=SYSTEM.name).is_active


def test_an_unknown_principal_is_not_found(cast: dict[str, Caller]) -> None:
    by = act("root")

    with pytest.raises(PrincipalNotFound):
        principals.deactivate(principal="nobody", by=by, now=now())
    with pytest.raises(PrincipalNotFound):
        principals.set_password(principal="nobody", password="x" * 20, by=by, now=now())
    with pytest.raises(PrincipalNotFound):
        principals.make_admin(principal="nobody", by=by, now=now())


def test_a_weak_password_changes_nothing(cast: dict[str, Caller]) -> None:
    before = Principal.objects.get(name="bob").password

    with pytest.raises(InvalidRequest) as caught:
        principals.set_password(principal="bob", password="12345678", by=act("bob"), now=now())

    assert caught.value.pointer == "/password"
    assert "12345678" not in caught.value.detail
    assert Principal.objects.get(name="bob").password == before


def test_a_surface_never_becomes_admin(cast: dict[str, Caller]) -> None:
    with pytest.raises(InvalidRequest):
        principals.make_admin(principal="surface:telegram", by=act("root"), now=now())

    assert not Principal.objects.get(name="surface:telegram").is_superuser
