"""Reads the day's items back through the API and holds them against the book."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from workitems.demo.book import Book, Piece
from workitems.demo.cast import TEAMS, Team

TERMINAL = ("completed", "superseded", "archived")
ENDED = ("Succeeded", "Failed", "Error")
PAGE = 25


def judge(book: Book, done: Callable[[], object]) -> None:
    """Every item of every team; what is wrong becomes a fault of the book."""
    for team in TEAMS:
        for piece in [piece for piece in book.pieces.values() if piece.team == team.slug]:
            book.attempt(partial(_item, book, team, piece))
            done()
        book.attempt(partial(_lists, book, team))


def _item(book: Book, team: Team, piece: Piece) -> None:
    answer = book.need(team.owner, "GET", piece.path, wanted=(200,))
    item = answer["work_item"]
    found = {name: item[name] for name in ("state", "state_version", "superseded_by")}
    wanted = {
        "state": piece.state,
        "state_version": piece.version,
        "superseded_by": piece.successor,
    }
    if found != wanted:
        book.fault(f"{piece.id} is {found}, it must be {wanted}")
    if (item["completed_at"] is not None) != (piece.state in TERMINAL):
        book.fault(f"{piece.id} is {piece.state} and completed_at is {item['completed_at']}")
    _events(book, team, piece)
    _executions(book, team, piece)


def _events(book: Book, team: Team, piece: Piece) -> None:
    path = f"{piece.path}/events?limit=500"
    events = book.need(team.owner, "GET", path, wanted=(200,))["events"]
    if [event["seq"] for event in events] != list(range(1, piece.events + 1)):
        book.fault(f"{piece.id} has events {[event['seq'] for event in events]}")
    moves = sum(event["to_state"] is not None for event in events)
    if moves != piece.version:
        book.fault(f"{piece.id} has {moves} events that set a state and version {piece.version}")
    if piece.successor and any(piece.successor in str(event) for event in events):
        book.fault(f"an event of {piece.id} names its successor")


def _executions(book: Book, team: Team, piece: Piece) -> None:
    runs = book.need(team.owner, "GET", f"{piece.path}/executions", wanted=(200,))["executions"]
    if [run["attempt"] for run in runs] != list(range(1, piece.attempts + 1)):
        book.fault(f"{piece.id} has attempts {[run['attempt'] for run in runs]}")
    if sum(run["phase"] not in ENDED for run in runs) > 1:
        book.fault(f"{piece.id} has two open executions")


def _lists(book: Book, team: Team) -> None:
    listed = _all_open(book, team)
    ids = [item["id"] for item in listed]
    mine = [piece for piece in book.pieces.values() if piece.team == team.slug]
    missing = {piece.id for piece in mine if piece.state not in TERMINAL} - set(ids)
    ended = {piece.id for piece in mine if piece.state in TERMINAL} & set(ids)
    if missing or ended or len(ids) != len(set(ids)):
        book.fault(f"{team.slug}: the list lacks {missing}, shows ended {ended} or repeats itself")
    keys = [item["external_key"] for item in listed if item["external_key"]]
    if len(keys) != len(set(keys)):
        book.fault(f"{team.slug}: two open items have one external key")


def _all_open(book: Book, team: Team) -> list[Any]:
    path = f"/api/v1/work-items?tenant={team.slug}&limit={PAGE}"
    page = book.need(team.owner, "GET", path, wanted=(200,))
    found: list[Any] = page["items"]
    while page["next_cursor"]:
        page = book.need(team.owner, "GET", f"{path}&cursor={page['next_cursor']}", wanted=(200,))
        found += page["items"]
    return found
