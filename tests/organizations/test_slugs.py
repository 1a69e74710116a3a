"""The ledger: a slug is one organization's for good."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import Error, IntegrityError, connection, transaction

from organizations.models import OrganizationSlug
from organizations.operations import slugs
from organizations.operations.slugs import Entry
from stigmer.core.callers import Caller
from tests.factories import now, race

pytestmark = pytest.mark.django_db


def test_a_claim_is_an_entry() -> None:
    moment = now()

    claim = slugs.claim(slug="acme", now=moment)

    assert claim == (Entry("acme", moment, None), True)
    assert slugs.find("acme") == claim.entry
    assert not claim.entry.retired


def test_a_second_claim_receives_the_first_ones_entry() -> None:
    first = slugs.claim(slug="acme", now=now())

    second = slugs.claim(slug="acme", now=now() + timedelta(hours=1))

    assert second == (first.entry, False)


def test_a_claim_of_a_retired_slug_receives_its_entry() -> None:
    slugs.claim(slug="acme", now=now())
    slugs.retire(slug="acme", now=now())

    claim = slugs.claim(slug="acme", now=now())

    assert not claim.won
    assert claim.entry.retired


def test_finds_nothing_for_a_slug_never_taken() -> None:
    assert slugs.find("acme") is None


def test_retiring_keeps_the_first_time_and_the_claim() -> None:
    entry = slugs.claim(slug="acme", now=now()).entry
    moment = now()

    slugs.retire(slug="acme", now=moment)
    slugs.retire(slug="acme", now=moment + timedelta(days=1))

    assert slugs.find("acme") == Entry("acme", entry.claimed_at, moment)


def test_retiring_records_an_unknown_slug() -> None:
    moment = now()

    slugs.retire(slug="older", now=moment)

    assert slugs.find("older") == Entry("older", moment, moment)


def test_release_frees_exactly_this_claim() -> None:
    entry = slugs.claim(slug="acme", now=now()).entry

    assert slugs.release(entry=entry)
    assert slugs.find("acme") is None
    assert slugs.claim(slug="acme", now=now()).won


def test_a_stale_release_never_frees_anothers_claim() -> None:
    stale = slugs.claim(slug="acme", now=now()).entry
    slugs.release(entry=stale)
    fresh = slugs.claim(slug="acme", now=now() + timedelta(microseconds=1)).entry

    assert not slugs.release(entry=stale)
    assert slugs.find("acme") == fresh


def test_release_never_frees_a_retired_slug() -> None:
    entry = slugs.claim(slug="acme", now=now()).entry
    slugs.retire(slug="acme", now=now())
    kept = slugs.find("acme")

    assert not slugs.release(entry=entry)
    assert kept is not None
    assert not slugs.release(entry=kept)
    assert slugs.find("acme") == kept


@pytest.mark.django_db(transaction=True)
def test_release_never_frees_what_a_row_references(cast: dict[str, Caller]) -> None:
    entry = slugs.find("acme")
    assert entry is not None

    assert not slugs.release(entry=entry)
    assert slugs.find("acme") == entry


@pytest.mark.django_db(transaction=True)
def test_release_inside_a_transaction_leaves_its_constraints_deferred(
    cast: dict[str, Caller],
) -> None:
    referenced = slugs.find("acme")
    assert referenced is not None

    with transaction.atomic():
        slugs.release(entry=referenced)
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO organizations_organization VALUES ('later', 'L', '', now(), now())"
            )
        slugs.claim(slug="later", now=now())

    assert slugs.find("later") is not None


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("UPDATE {t} SET slug = 'other'", "organization_slug_is_kept"),
        ("UPDATE {t} SET claimed_at = now()", "organization_slug_is_kept"),
        ("UPDATE {t} SET retired_at = NULL", "organization_slug_stays_retired"),
        ("UPDATE {t} SET retired_at = now()", "organization_slug_stays_retired"),
        ("DELETE FROM {t}", "organization_slug_retired_is_never_deleted"),
        ("INSERT INTO {t} VALUES ('Bad', now(), NULL)", "organization_slug_form"),
    ],
)
def test_the_database_keeps_the_ledger(change: str, rule: str) -> None:
    slugs.retire(slug="acme", now=now() - timedelta(days=1))
    before = slugs.find("acme")

    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        _sql(change.format(t="organizations_organizationslug"))

    assert caught.value.__cause__.diag.constraint_name == rule  # type: ignore[union-attr]
    assert slugs.find("acme") == before


def _sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_of_sixteen_claims_one_wins_and_all_see_its_entry() -> None:
    moment = now()

    claims = race(
        *[partial(slugs.claim, slug="acme", now=moment + timedelta(seconds=n)) for n in range(16)]
    )

    assert [claim.won for claim in claims].count(True) == 1
    assert {claim.entry for claim in claims} == {slugs.find("acme")}


@pytest.mark.django_db(transaction=True)
def test_claims_and_releases_race_without_freeing_a_winner() -> None:
    stale = slugs.claim(slug="acme", now=now()).entry

    def release() -> Any:
        return slugs.release(entry=stale)

    def claim(n: int) -> Any:
        return slugs.claim(slug="acme", now=stale.claimed_at + timedelta(seconds=n + 1))

    results = race(*[release] * 8, *[partial(claim, n) for n in range(8)])

    assert results[:8].count(True) == 1
    wins = [claim.entry for claim in results[8:] if claim.won]
    held = slugs.find("acme")
    assert wins == ([held] if held else [])
    assert {claim.entry for claim in results[8:] if not claim.won} <= {stale, held}


@pytest.mark.django_db(transaction=True)
def test_retirements_race_to_one_time() -> None:
    moment = now()

    results = race(
        *[partial(slugs.retire, slug="acme", now=moment + timedelta(seconds=n)) for n in range(16)]
    )

    assert results == [None] * 16
    entry = slugs.find("acme")
    assert entry is not None
    assert entry.claimed_at == entry.retired_at


@pytest.mark.django_db(transaction=True)
def test_a_claim_waits_for_a_create_in_flight_and_wins_when_it_fails() -> None:
    def fail() -> None:
        with transaction.atomic():
            slugs.claim(slug="acme", now=now())
            connection.cursor().execute("SELECT pg_sleep(0.3)")
            raise LookupError

    def later() -> Any:
        connection.cursor().execute("SELECT pg_sleep(0.1)")
        return slugs.claim(slug="acme", now=now())

    failed, claim = race(fail, later)

    assert isinstance(failed, LookupError)
    assert claim.won
    assert OrganizationSlug.objects.count() == 1


def test_the_ledger_takes_no_row_of_another_form_by_any_way() -> None:
    with pytest.raises(Error), transaction.atomic():
        slugs.claim(slug="Not A Slug", now=now())

    assert slugs.find("Not A Slug") is None
