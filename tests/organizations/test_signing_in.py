"""Signing in: humans with a password, five attempts, then a quarter of an hour of nobody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth import authenticate
from django.test import Client, RequestFactory

from organizations.models import Principal, SignInAttempts
from organizations.operations import attempts, principals
from organizations.signing_in import LOCKED_OUT, SignInForm, address_of
from stigmer.core.callers import Caller
from tests.factories import act, now, race

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def bob(cast: dict[str, Caller]) -> Iterator[datetime]:
    moment = now()
    principals.set_password(principal="bob", password=PASSWORD, by=act("bob"), now=moment)
    with time_machine.travel(moment, tick=False):
        yield moment


def _sign_in(password: str, *, name: str = "bob", address: str = "192.0.2.1") -> Any:
    request = RequestFactory().post("/console/login/", REMOTE_ADDR=address)
    return authenticate(request, username=name, password=password)


def _fail(times: int, **more: str) -> None:
    for _ in range(times):
        assert _sign_in("wrong", **more) is None


def test_a_human_signs_in_with_the_password(bob: datetime) -> None:
    assert _sign_in(PASSWORD).name == "bob"
    assert _sign_in("wrong") is None
    assert _sign_in(PASSWORD, name="nobody") is None


def test_four_failures_are_forgiven_by_a_success(bob: datetime) -> None:
    for _ in range(3):
        _fail(4)
        assert _sign_in(PASSWORD) is not None

    assert not SignInAttempts.objects.exists()


def test_the_fifth_failure_locks_out_the_right_password_too(bob: datetime) -> None:
    _fail(5)

    assert _sign_in(PASSWORD) is None
    assert attempts.is_locked(name="bob", address="192.0.2.1", now=now())


def test_a_lock_out_ends_after_a_quarter_of_an_hour_whatever_was_tried(bob: datetime) -> None:
    _fail(5)
    with time_machine.travel(bob + timedelta(minutes=14, seconds=59), tick=False):
        _fail(3)
        assert _sign_in(PASSWORD) is None

    with time_machine.travel(bob + timedelta(minutes=15), tick=False):
        assert _sign_in(PASSWORD) is not None


def test_the_quarter_of_an_hour_begins_with_the_fifth_failure(bob: datetime) -> None:
    _fail(4)
    with time_machine.travel(bob + timedelta(minutes=10), tick=False):
        _fail(1)

    with time_machine.travel(bob + timedelta(minutes=24), tick=False):
        assert _sign_in(PASSWORD) is None
    with time_machine.travel(bob + timedelta(minutes=25), tick=False):
        assert _sign_in(PASSWORD) is not None


def test_old_failures_do_not_count(bob: datetime) -> None:
    _fail(4)

    with time_machine.travel(bob + timedelta(minutes=15), tick=False):
        _fail(4)
        assert _sign_in(PASSWORD) is not None


def test_another_name_and_another_address_are_not_locked_out(bob: datetime) -> None:
    _fail(5)

    assert _sign_in(PASSWORD, address="192.0.2.2") is not None
    _fail(1, name="alice")
    assert not attempts.is_locked(name="alice", address="192.0.2.1", now=now())


def test_a_name_that_nobody_has_locks_out_alike(bob: datetime) -> None:
    _fail(5, name="nobody")

    assert attempts.is_locked(name="nobody", address="192.0.2.1", now=now())


def test_what_was_typed_as_a_name_is_not_kept(bob: datetime) -> None:
    _fail(1, name="my password by mistake")

    assert "mistake" not in str(SignInAttempts.objects.values().get())


def test_ended_counts_are_swept(bob: datetime) -> None:
    for n in range(5):
        _fail(1, name=f"n{n}")

    with time_machine.travel(bob + timedelta(minutes=16), tick=False):
        _fail(1)

    assert SignInAttempts.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_guesses_at_once_five_are_looked_at() -> None:
    moment = now()

    looked_at = race(*[lambda: attempts.spend(name="bob", address="a", now=moment)] * 16)

    assert looked_at.count(True) == 5


@pytest.mark.parametrize("name", ["service:dispatcher", "surface:telegram", "service:stigmer"])
def test_only_humans_sign_in(bob: datetime, name: str) -> None:
    principal = Principal.objects.get(name=name)
    principal.set_password(PASSWORD)
    principal.save()

    assert _sign_in(PASSWORD, name=name) is None


def test_who_was_deactivated_does_not_sign_in(bob: datetime) -> None:
    principals.deactivate(principal="bob", by=act("root"), now=now())

    assert _sign_in(PASSWORD) is None


def test_another_password_is_the_only_one(bob: datetime) -> None:
    principals.set_password(principal="bob", password="another long phrase", by=act(), now=now())

    assert _sign_in(PASSWORD) is None
    assert _sign_in("another long phrase") is not None


def test_the_form_says_when_it_is_the_lock_out_that_refuses(bob: datetime) -> None:
    def errors(password: str) -> str:
        request = RequestFactory().post("/console/login/", REMOTE_ADDR="192.0.2.1")
        return str(SignInForm(request, {"username": "bob", "password": password}).errors)

    assert LOCKED_OUT not in errors("wrong")
    _fail(4)

    assert LOCKED_OUT in errors(PASSWORD)


def test_the_address_is_the_one_that_our_proxy_saw(settings: Any) -> None:
    request = RequestFactory().get(
        "/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR="198.51.100.9, 192.0.2.7"
    )

    assert address_of(request) == "10.0.0.1"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert address_of(request) == "192.0.2.7"
    assert address_of(None) == ""


def test_the_consoles_page_locks_out_and_says_so(bob: datetime) -> None:
    principals.make_admin(principal="bob", by=act("root"), now=now())
    client = Client()

    def post(password: str) -> Any:
        form = {"username": "bob", "password": password, "next": "/console/"}
        return client.post("/console/login/", form)

    assert post(PASSWORD).status_code == 302
    client.logout()
    for _ in range(5):
        assert post("wrong").status_code == 200

    refused = post(PASSWORD)

    assert refused.status_code == 200
    assert LOCKED_OUT in refused.content.decode()
    assert "_auth_user_id" not in client.session
