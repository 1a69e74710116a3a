"""`import_work_items`: lines read strictly, sent through the API, answered as they expect."""

import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from organizations.models import ApiToken, Principal
from stigmer.core.secrets import find_secret, find_secret_in
from tests.factories import make_principal
from workitems.driving import lines
from workitems.driving.principals import PrincipalsMissingError, acting_as, kind_of, need

EXAMPLE = Path(__file__).parents[2] / "examples" / "a-day-of-work.jsonl"
GET_ME = {"as": "alice", "method": "GET", "path": "/api/v1/whoami"}
TABLES = (
    "workitems_workitem", "workitems_workitemtitle", "workitems_workitemevent",
    "workitems_workitemintent", "workitems_workitemexecution", "workitems_createrequest",
    "workitems_itemrequest", "organizations_organization", "organizations_organizationslug",
    "organizations_membership", "organizations_principal",
)  # fmt: skip


def run(file: Path, url: str, *flags: str) -> str:
    said = StringIO()
    call_command("import_work_items", str(file), "--url", url, *flags, stdout=said)
    return said.getvalue()


def written(path: Path, *requests: dict[str, Any]) -> Path:
    file = path / "requests.jsonl"
    file.write_text("\n".join(json.dumps(request) for request in requests))
    return file


def contents() -> dict[str, list[Any]]:
    """Every row of every table that requests write; of references all but when they were seen."""
    columns = "work_item, surface, external_id, actor_external_id, first_seen_at"
    with connection.cursor() as cursor:
        found = {}
        for table in TABLES:
            cursor.execute(f"SELECT t::text FROM {table} t ORDER BY 1")
            found[table] = cursor.fetchall()
        cursor.execute(f"SELECT {columns} FROM workitems_surfaceref ORDER BY 1, 2, 3")
        return {**found, "surface_refs": cursor.fetchall()}


# The example --------------------------------------------------------------------------------------


def test_the_example_answers_as_it_says_and_twice_is_the_same_as_once(
    server: str,
) -> None:
    first = run(EXAMPLE, server, "--create-principals")
    once = contents()

    second = run(EXAMPLE, server)

    assert "Created 25 principals" in first
    assert "490/490" in first
    assert "Created" not in second
    assert contents() == once
    assert len(once["workitems_workitem"]) == 74
    assert not ApiToken.objects.filter(revoked_at=None).exists()


def test_the_example_holds_what_a_real_day_holds() -> None:
    requests = [line.request for line in lines.read(EXAMPLE)]
    expected = Counter(str(request.expect) for request in requests)
    titles = " ".join(str((request.body or {}).get("title", "")) for request in requests)
    surfaces = {(request.body or {}).get("origin_surface") for request in requests}

    assert len(requests) >= 400
    assert all(request.expect for request in requests)
    assert {"telegram", "slack"} <= surfaces
    for code in (
        "secret_in_text", "state_version_conflict", "idempotency_key_reused",
        "external_key_in_use", "permission_denied", "work_item_not_found", "execution_active",
    ):  # fmt: skip
        assert expected[code] >= 2, code
    # Latin, Cyrillic, Arabic, Hebrew, Devanagari, Han, kana, Hangul, Thai, emoji.
    for letter in "ä", "Д", "ع", "ת", "क", "台", "ス", "서", "น", "🏮":
        assert letter in titles


def test_the_secrets_of_the_example_are_matched_by_the_rules_and_by_no_scanner_of_files() -> None:
    raw = EXAMPLE.read_text()

    found = [
        line.request
        for line in lines.read(EXAMPLE)
        if find_secret_in([line.request.path, line.request.body])
    ]

    assert len(found) >= 15
    assert {str(request.expect) for request in found} == {"secret_in_text"}
    assert find_secret(raw) is None


# What stops it before anything is sent ------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "not valid JSON"),
        ('{"as": "a", "as": "b"}', "as"),
        ("[]", "Expected `object`"),
        (json.dumps({**GET_ME, "method": "HEAD"}), "method"),
        (json.dumps({**GET_ME, "headers": {}}), "headers"),
        (json.dumps({"method": "GET", "path": "/api/v1/whoami"}), "`as`"),
        (json.dumps({**GET_ME, "path": "https://elsewhere.example/api/v1/"}), "/api/v1/"),
        (json.dumps({**GET_ME, "path": "/api/v1/x/{{gone.id}}"}), "no earlier line is named gone"),
        (json.dumps({**GET_ME, "body": {"a": [{"b": "{{gone.id}}"}]}}), "named gone"),
        (json.dumps({**GET_ME, "name": "Me!"}), "name must match"),
        (json.dumps({**GET_ME, "name": "me"}), "an earlier line is named me"),
        (json.dumps({**GET_ME, "expect": 1.5}), "expect"),
    ],
)
def test_a_malformed_line_is_named_before_anything_is_sent(
    tmp_path: Path, line: str, fault: str
) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_text(json.dumps({**GET_ME, "name": "me"}) + "\n\n" + line)

    with pytest.raises(CommandError) as refused:
        run(file, "http://127.0.0.1:9")

    assert "line 3: " in str(refused.value)
    assert fault in str(refused.value)
    assert "nothing was sent" in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no-such-file"):
        run(tmp_path / "no-such-file", "http://127.0.0.1:9")


@pytest.mark.django_db
def test_says_how_to_start_the_server_when_none_runs(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"No server answers at http://127.0.0.1:9 .*make run"):
        run(written(tmp_path, GET_ME), "http://127.0.0.1:9", "--create-principals")

    assert not Principal.objects.filter(name="alice").exists()


# Principals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("service:desk", "service"),
        ("surface:telegram", "surface"),
        ("github:alice", "human"),
        ("service", "human"),
    ],
)
def test_the_prefix_of_a_name_tells_the_kind(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_names_principals_that_are_missing_and_creates_none(server: str, tmp_path: Path) -> None:
    make_principal("alice")
    file = written(tmp_path, GET_ME, {**GET_ME, "as": "service:desk"})

    with pytest.raises(CommandError, match=r"do not exist: service:desk\. .*--create-principals"):
        run(file, server)

    assert not Principal.objects.filter(name="service:desk").exists()
    assert not ApiToken.objects.exists()


@pytest.mark.django_db
def test_creates_principals_of_the_right_kind_when_told() -> None:
    names = ["dora", "service:desk", "surface:chat"]

    made = need(names, create=True)

    kinds = dict(Principal.objects.filter(name__in=names).values_list("name", "kind"))
    assert made == names
    assert kinds == {"dora": "human", "service:desk": "service", "surface:chat": "surface"}
    assert not Principal.objects.filter(name__in=names, is_superuser=True).exists()
    assert need(names, create=True) == []


@pytest.mark.django_db
def test_a_deactivated_principal_is_named_and_nobody_is_created() -> None:
    make_principal("alice")
    Principal.objects.filter(name="alice").update(is_active=False)

    with pytest.raises(PrincipalsMissingError, match="deactivated: alice"):
        need(["alice", "dora"], create=True)

    assert not Principal.objects.filter(name="dora").exists()


@pytest.mark.django_db
def test_tokens_are_short_lived_and_worthless_afterwards_whatever_happens() -> None:
    make_principal("alice")
    make_principal("service:desk", "service")

    secrets: dict[str, str] = {}

    def interrupted() -> None:
        with acting_as(["alice", "service:desk"], "test") as found:
            secrets.update(found)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert set(secrets) == {"alice", "service:desk"}
    assert not ApiToken.objects.filter(expires_at=None).exists()
    assert ApiToken.objects.count() == 2
    assert not ApiToken.objects.filter(revoked_at=None).exists()


# A run --------------------------------------------------------------------------------------------


def test_shows_what_was_not_as_expected_and_exits_with_1(server: str, tmp_path: Path) -> None:
    make_principal("alice")
    create = {"as": "alice", "method": "POST", "path": "/api/v1/organizations"}
    item = "/api/v1/organizations/{{made.id}}"
    file = written(
        tmp_path,
        {**create, "body": {"name": "Acme"}, "name": "made", "expect": 201},
        {**GET_ME, "path": item, "expect": "organization_not_found"},
        {**GET_ME, "path": item, "expect": 200, "name": "seen"},
        {**GET_ME, "path": "/api/v1/organizations/{{seen.gone}}", "expect": 200},
        {**GET_ME, "path": "/api/v1/nowhere"},
    )
    said = StringIO()

    with pytest.raises(CommandError, match="2 of 5 lines") as refused:
        call_command("import_work_items", file, "--url", server, stdout=said)

    told = said.getvalue()
    assert refused.value.returncode == 1
    assert "organization_not_found" in told
    assert "not sent: {{seen.gone}}" in told.replace("│\n", "")
    assert "/api/v1/organizations/{slug}" in told
    assert "(no route)" in told
