"""`demo`: a day through the API of a real server, every invariant checked, every break seen."""

import random
from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from organizations.models import ApiToken, Principal
from workitems import integrity
from workitems.demo import cast
from workitems.demo.book import Book, Piece, UnexpectedAnswerError
from workitems.demo.errands import COURSES, plan
from workitems.demo.judging import judge
from workitems.driving import principals
from workitems.driving.sending import Sender, Sent
from workitems.models import WorkItem


def lived(server: str, *more: str) -> str:
    said = StringIO()
    call_command("demo", "--url", server, "--errands", "16", *more, stdout=said)
    return said.getvalue()


def damage(statement: str) -> None:
    """What no guard would let happen."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement)


def test_a_day_holds_every_invariant_and_a_broken_one_fails_the_next_day(server: str) -> None:
    first = lived(server, "--seed", "7")

    assert "0 faults" in first
    assert "Everything is as it must be (seed 7)" in first
    assert first.count("✓") == len(integrity.INVARIANTS)
    assert not ApiToken.objects.filter(revoked_at=None).exists()

    damage("UPDATE workitems_workitem SET state_version = 40 WHERE state = 'completed'")
    said = StringIO()
    with pytest.raises(CommandError, match="1 things are not as they must be") as refused:
        call_command("demo", "--url", server, "--errands", "8", stdout=said)

    assert refused.value.returncode == 1
    assert "✗ the version counts the events that moved the state: wi_" in said.getvalue()


def test_what_the_api_tells_is_held_against_the_book(server: str) -> None:
    lived(server)
    item = WorkItem.objects.filter(state="completed").order_by("id")[0]
    told = Piece(item.id, item.organization_id, item.owner_id, item.title, "archived", 9, 9, 9)

    faults = judged(server, told)

    wanted = ("it must be", "has events", "version 9", "has attempts")
    assert [sum(text in fault for fault in faults) for text in wanted] == [1, 1, 1, 1]


def judged(server: str, *pieces: Piece) -> list[str]:
    with (
        Sender(server) as sender,
        principals.acting_as(cast.PRINCIPALS, "test") as sender.tokens,
    ):
        book = Book(sender, "test", pieces={piece.id: piece for piece in pieces})
        judge(book, lambda: None)
    return book.faults


def test_has_ten_people_three_organizations_and_two_services() -> None:
    assert len(set(cast.PEOPLE)) == 10
    assert len({team.slug for team in cast.TEAMS}) == 3
    assert len({cast.RUNNER, cast.INTAKE}) == 2


def test_a_day_has_every_course_and_both_chats() -> None:
    errands = plan(60, random.Random(1))

    assert {errand.course for errand in errands} == set(COURSES)
    assert {errand.surface for errand in errands} == {"telegram", "slack"}
    assert max(Counter(errand.title for errand in errands).values()) == 1


class Answers:
    """A sender that answers what it is told, in order."""

    def __init__(self, *answers: Sent) -> None:
        self.answers = list(answers)

    def send(self, *_: Any) -> Sent:
        return self.answers.pop(0)


def test_two_effects_of_one_key_are_a_fault() -> None:
    twice = Sent(201, "", {"created": True}), Sent(201, "", {"created": True})
    book = Book(Answers(*twice), "test")  # type: ignore[arg-type]

    book.once("alice", "POST", "/api/v1/work-items", {}, key="k", copies=2)

    assert book.faults == ["alice: POST /api/v1/work-items with one key had 2 effects"]


def test_an_answer_that_must_not_be_is_a_fault_and_ends_the_errand_alone() -> None:
    book = Book(Answers(Sent(500, "internal_error", {})), "test")  # type: ignore[arg-type]

    def read() -> None:
        with pytest.raises(UnexpectedAnswerError):
            book.need("alice", "GET", "/api/v1/whoami")
        raise UnexpectedAnswerError

    book.attempt(read)

    assert book.faults == ["alice: GET /api/v1/whoami was answered 500 internal_error"]


@pytest.mark.django_db
def test_leaves_a_production_database_alone(settings: Any) -> None:
    settings.PRODUCTION = True

    with pytest.raises(CommandError, match="this is production"):
        call_command("demo", "--url", "http://127.0.0.1:9")

    assert not Principal.objects.filter(name__startswith="demo:").exists()


@pytest.mark.parametrize("errands", ["7", "10001"])
def test_refuses_a_number_of_errands_out_of_range(errands: str) -> None:
    with pytest.raises(CommandError, match="from 8 to 10000"):
        call_command("demo", "--errands", errands)


@pytest.mark.django_db
def test_says_how_to_start_the_server_when_none_runs() -> None:
    with pytest.raises(CommandError, match="make run"):
        call_command("demo", "--url", "http://127.0.0.1:9")

    assert not Principal.objects.filter(name__startswith="demo:").exists()
