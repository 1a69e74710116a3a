"""Slugs: their form, and what a name becomes."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from organizations import naming
from stigmer.core.errors import InvalidRequest

RULE = re.compile(r"[a-z][a-z0-9-]{0,61}[a-z0-9]")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Acme", "acme"),
        ("Acme  Rockets & Anvils!", "acme-rockets-anvils"),
        ("Café Crème", "cafe-creme"),
        ("Straße", "strae"),
        ("ﬁne ½ K", "fine-12-k"),
        ("--Acme--", "acme"),
        ("Łódź ABC", "odz-abc"),
        ("a" * 62 + " b", "a" * 62),
        ("a" * 70, "a" * 63),
        ("東京 Tokyo", "tokyo"),
        ("A1", "a1"),
    ],
)
def test_derives(name: str, slug: str) -> None:
    assert naming.slug_from(name) == slug


@pytest.mark.parametrize("name", ["東京", "1st", "a", "!!!", "🚀", "9-lives", "-", "4"])
def test_derives_nothing_from_a_name_without_a_slug(name: str) -> None:
    assert naming.slug_from(name) == ""


@given(st.text(max_size=200))
def test_what_is_derived_is_a_slug_or_nothing(name: str) -> None:
    slug = naming.slug_from(name)

    assert slug == "" or RULE.fullmatch(slug)
    assert naming.slug_from(slug) == slug
    assert naming.slug_from(unicodedata.normalize("NFD", name)) == slug


@given(st.from_regex(r"[a-z][a-z0-9]{0,20}(-[a-z0-9]{1,10}){0,3}[a-z0-9]", fullmatch=True))
def test_a_plain_slug_is_its_own_derivation(slug: str) -> None:
    assert naming.slug_from(slug) == slug
    assert naming.slug_from(f"  {slug.upper()}!") == slug


@pytest.mark.parametrize(
    "slug", ["", "a", "A1", "1a", "-a", "a-", "a_b", "a.b", "a\n", "ab\n", "a b", "ä1", "a" * 64]
)
def test_refuses_another_form(slug: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        naming.check_slug(slug)

    assert (caught.value.pointer, caught.value.fault) == ("/slug", "pattern")


@pytest.mark.parametrize("slug", ["a1", "aa", "a--b", "a" * 63])
def test_takes_every_form_of_the_rule(slug: str) -> None:
    assert naming.check_slug(slug) == slug


def test_an_installation_adds_reserved_words(settings: object) -> None:
    assert naming.is_reserved("admin")
    assert not naming.is_reserved("our-word")

    settings.STIGMER_RESERVED_SLUGS = ["our-word"]  # type: ignore[attr-defined]

    assert naming.is_reserved("our-word")
    assert naming.is_reserved("api")


def test_what_the_first_run_makes_is_not_reserved() -> None:
    assert not naming.is_reserved("demo")
