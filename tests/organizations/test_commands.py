"""The commands: what they make, that they may run twice, and what they say when they refuse."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from organizations.models import ApiToken, Organization, OrganizationSlug, Principal
from organizations.operations import slugs
from organizations.operations.importing import KINDS
from stigmer.core.callers import Caller
from tests.factories import Api, make_principal, now, race

pytestmark = pytest.mark.django_db
As = Callable[[str | None], Api]


def run(name: str, *arguments: Any) -> str:
    out = io.StringIO()
    call_command(name, *map(str, arguments), stdout=out)
    return out.getvalue()


# Principals and tokens ----------------------------------------------------------------------------


def test_creates_a_principal_once() -> None:
    assert run("create_principal", "alice", "--kind", "human") == "alice created\n"
    before = Principal.objects.values().get(name="alice")

    assert run("create_principal", "alice", "--kind", "human") == "alice exists\n"

    assert Principal.objects.values().get(name="alice") == before


def test_creates_an_admin_with_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for outcome in ("created", "exists"):
        monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
        said = run("create_principal", "boss", "--kind", "human", "--admin", "--password-stdin")
        assert said == f"boss {outcome}\n"

    boss = Principal.objects.get(name="boss")
    assert boss.is_superuser
    assert boss.is_staff
    assert boss.check_password("correct horse battery")


def test_makes_an_existing_principal_an_admin() -> None:
    run("create_principal", "boss", "--kind", "human")

    assert run("create_principal", "boss", "--kind", "human", "--admin") == "boss changed\n"
    assert Principal.objects.get(name="boss").is_superuser


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["alice", "--kind", "service"], "'alice' was not created: the name belongs to a human"),
        ([" x", "--kind", "human"], "name must not start or end with white space"),
        (["s", "--kind", "surface", "--admin"], "a surface is never an admin"),
        (["n", "--kind", "human", "--password-stdin"], "there is no password on standard input"),
    ],
)
def test_a_principal_is_refused_in_a_sentence(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_principal("alice")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    before = list(Principal.objects.order_by("id").values())

    with pytest.raises(CommandError, match=said):
        run("create_principal", *arguments)

    assert list(Principal.objects.order_by("id").values()) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody"], "no token was made for 'nobody': There is no such principal"),
        (["service:stigmer"], "service:stigmer has no tokens"),
        (["alice", "--days", "0"], "--days must be from 1 to 36500"),
        (["alice", "--name", "x" * 65], "name must be at most 64 bytes"),
    ],
)
def test_a_token_is_refused_in_a_sentence(arguments: list[str], said: str) -> None:
    make_principal("alice")

    with pytest.raises(CommandError, match=said):
        run("create_token", *arguments)

    assert not ApiToken.objects.exists()


def test_opens_an_organization() -> None:
    make_principal("alice")

    run("create_organization", "acme", "--owner", "alice", "--name", "Acme Inc.")

    assert Organization.objects.get(slug="acme").name == "Acme Inc."


@pytest.mark.parametrize(
    ("slug", "owner", "said"),
    [
        ("Acme", "alice", "slug must match"),
        ("admin", "alice", "this slug is a word that addresses use"),
        ("taken", "alice", "another organization has this slug"),
        ("acme", "nobody", "There is no such member"),
        ("acme", "surface:x", "a surface is never a member"),
    ],
)
def test_an_organization_is_refused_in_a_sentence(slug: str, owner: str, said: str) -> None:
    make_principal("alice")
    make_principal("surface:x", "surface")
    run("create_organization", "taken", "--owner", "alice")

    with pytest.raises(CommandError, match=said):
        run("create_organization", slug, "--owner", owner)

    assert Organization.objects.count() == 1
    assert OrganizationSlug.objects.count() == 1


# The import of slugs ------------------------------------------------------------------------------


def _file(tmp_path: Path, rows: list[Any]) -> Path:
    file = tmp_path / "rows.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def _row(org: Any = "old-co", kind: str = "agent", id: str = "agt_1") -> dict[str, Any]:
    return {"kind": kind, "id": id, "org": org}


def _ledger() -> dict[str, bool]:
    return {entry.slug: entry.retired_at is not None for entry in OrganizationSlug.objects.all()}


def test_records_what_rows_name_retired_unless_it_lives(
    cast: dict[str, Caller], tmp_path: Path
) -> None:
    acme = slugs.find("acme")
    rows = [_row(f"org-{n}", kind) for n, kind in enumerate(KINDS)]
    more = [_row("acme"), _row(""), _row(None), {"kind": "team", "id": "tm_1"}, _row("org-0"), ""]

    said = run("import_slugs", _file(tmp_path, [*rows, *more]))

    assert said == f"{len(KINDS) + 5} rows read, {len(KINDS)} slugs recorded\n"
    assert slugs.find("acme") == acme
    imported = slugs.find("org-0")
    assert imported is not None
    assert imported.claimed_at == imported.retired_at
    assert _ledger() == {"acme": False, "globex": False} | {
        f"org-{n}": True for n in range(len(KINDS))
    }


def test_an_import_may_run_twice(tmp_path: Path) -> None:
    file = _file(tmp_path, [_row("old-co"), _row("older-co")])
    run("import_slugs", file)
    before = list(OrganizationSlug.objects.order_by("slug").values())

    assert run("import_slugs", file) == "2 rows read, 0 slugs recorded\n"

    assert list(OrganizationSlug.objects.order_by("slug").values()) == before


def test_an_imported_slug_is_never_given(as_: As, tmp_path: Path) -> None:
    run("import_slugs", _file(tmp_path, [_row("old-co")]))

    refused = as_("bob").post("/organizations", {"name": "Old Co"})

    assert refused.json()["code"] == "organization_slug_reserved"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (_row("Old Co"), "agent 'agt_1' {}: 'Old Co' is not a slug"),
        (_row(7), "agent 'agt_1' {}: org must be a text"),
        (_row(["a"]), "agent 'agt_1' {}: org must be a text"),
        (_row(kind="robot"), "robot 'agt_1' {}: unknown kind"),
        (_row() | {"extra": 1}, "agent 'agt_1' {}: unknown field 'extra'"),
        ({"kind": "agent", "org": "a1"}, "line '2' {}: kind and id must be texts"),
        ([1], "line '2' {}: not an object"),
        ('{"kind":', "line '2' {}: not JSON"),
    ],
)
def test_a_row_that_cannot_be_read_stops_the_import_and_nothing_is_kept(
    tmp_path: Path, row: Any, said: str
) -> None:
    file = _file(tmp_path, [_row("good-co"), row, _row("later-co")])

    with pytest.raises(CommandError) as caught:
        run("import_slugs", file)

    sentence = said.format("cannot be read for the organization it names")
    assert str(caught.value).startswith(sentence)
    assert _ledger() == {}


def test_bytes_that_are_no_text_stop_the_import(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"kind": "agent", "id": "\xff", "org": "a1"}\n')

    with pytest.raises(CommandError, match="line '1' cannot be read for the organization it names"):
        run("import_slugs", file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file or directory"):
        run("import_slugs", tmp_path / "none.jsonl")


# The first run ------------------------------------------------------------------------------------


def test_the_first_run_makes_an_admin_once_and_says_nothing_later() -> None:
    said = run("first_run")

    secrets = dict(line.split() for line in said.splitlines() if line.startswith("  "))
    admin = Principal.objects.get(name="admin")
    assert secrets["user"] == "admin"
    assert admin.check_password(secrets["password"])
    assert (admin.kind, admin.is_staff, admin.is_superuser) == ("human", True, True)
    whoami = Api(secrets["token"]).get("/whoami").json()
    assert whoami["memberships"] == [{"organization": "demo", "role": "owner"}]
    assert run("first_run") == ""
    assert ApiToken.objects.count() == 1


def test_an_installation_with_somebody_is_left_alone() -> None:
    make_principal("alice")

    assert run("first_run") == ""
    assert not Principal.objects.filter(name="admin").exists()


@pytest.mark.django_db(transaction=True)
def test_of_first_runs_at_once_one_is_the_first() -> None:
    said = race(*[lambda: run("first_run")] * 4)

    assert sorted(map(bool, said)) == [False, False, False, True]
    assert Organization.objects.count() == 1


def test_time_is_read_at_the_door() -> None:
    before = now()

    run("first_run")

    assert before <= Organization.objects.get().created_at <= now()
