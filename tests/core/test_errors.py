"""Tests of refusals and their registry."""

import pytest

from stigmer.core import errors
from stigmer.core.errors import FAMILIES, REFUSALS, Conflict, InvalidRequest, Refusal
from stigmer.http.problems import STATUS, status_of


def test_refuses_a_second_class_with_the_same_code() -> None:
    before = dict(REFUSALS)

    with pytest.raises(TypeError, match="already_exists is declared by AlreadyExists and Again"):

        class Again(Conflict):
            """It is there twice."""

            code = "already_exists"

    assert before == REFUSALS


def test_refuses_a_class_without_a_title() -> None:
    before = dict(REFUSALS)

    with pytest.raises(TypeError, match="needs a docstring"):

        class Untold(Conflict):
            code = "untold"

    assert before == REFUSALS


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_every_refusal_is_told_in_full(code: str) -> None:
    refusal = REFUSALS[code]

    assert code == code.lower()
    assert code.replace("_", "").isalnum()
    assert refusal.title()
    assert not refusal.title().endswith(".")
    assert len(refusal.title()) < 80


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_every_refusal_has_a_status(code: str) -> None:
    assert 400 <= status_of(REFUSALS[code]) < 600


def test_every_family_has_a_status() -> None:
    assert set(STATUS) == {family for family in FAMILIES if family.__module__ == errors.__name__}


def test_a_refusal_carries_its_facts_and_its_default_text() -> None:
    refusal = errors.AlreadyExists(slug="acme")

    assert refusal.facts == {"slug": "acme"}
    assert refusal.detail == "It exists already"
    assert str(errors.AlreadyExists("acme is taken")) == "acme is taken"


def test_an_input_fault_names_its_place() -> None:
    refusal = InvalidRequest("title must not be empty", pointer="/title", fault="blank")

    assert isinstance(refusal, Refusal)
    assert (refusal.pointer, refusal.fault, refusal.facts) == ("/title", "blank", {})
