"""The README and docs/ are true: commands exist, variables are all there, the tours really run."""

import json
import os
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import pytest
from django.core.management import call_command, get_commands

from organizations.operations.first_run import first_run
from stigmer import environment
from stigmer.core.callers import system_act
from stigmer.core.errors import REFUSALS
from tests.factories import now

PROJECT = Path(__file__).parent.parent
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
TOURS = [PROJECT / "README.md", PROJECT / "docs" / "tour.md"]
# A request with the answer that the page shows, a name for the item just seen, or a new principal.
STEP = re.compile(
    r"^(stigmer [$\"-].*?)\n```\n\n→ (\d{3})\n(?:\n```json\n(.*?)\n```)?"
    r"|`([A-Z]+)=wi_…`|manage\.py create_principal (\w+) --kind (\w+)$",
    re.DOTALL | re.MULTILINE,
)
CHANGING = re.compile(r"[a-z]{2,4}_[0-9a-z]{26}|stigmer_.*|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def spoken(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# Commands -----------------------------------------------------------------------------------------


@by_page
def test_every_make_target_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", spoken(PROJECT / "Makefile"), re.MULTILINE))

    named = set(re.findall(r"(?:^|`|[A-Z_]+=\S+ )make ([a-z][a-z-]*)", spoken(page), re.MULTILINE))

    assert named <= targets


@by_page
def test_every_management_command_exists(page: Path) -> None:
    named = set(re.findall(r"manage\.py ([a-z][a-z_]*)", spoken(page)))

    assert named <= set(get_commands())


def test_the_readme_begins_with_the_two_commands() -> None:
    first = re.search(r"```sh\n(.*?)```", spoken(PROJECT / "README.md"), re.DOTALL)

    assert first is not None
    assert re.findall(r"^make \w+", first[1], re.MULTILINE) == ["make run", "make test"]


@by_page
def test_every_file_that_is_named_exists(page: Path) -> None:
    folders = "docs|examples|requirements|tests|bench|deploy|scripts|templates"
    apps = "stigmer|organizations|workitems"
    pattern = rf"`((?:{folders}|{apps})/[\w./-]*(?:/|\.\w+))`|(examples/[\w.-]+)"

    named = {first or second for first, second in re.findall(pattern, spoken(page))}

    assert [name for name in sorted(named) if not (PROJECT / name).exists()] == []


# Variables ----------------------------------------------------------------------------------------


class Recording(dict[str, str]):
    """The environment, and every name that was asked for."""

    def __init__(self) -> None:
        super().__init__(os.environ)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


def asked_by_settings(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    recording = Recording()
    init = environment.Environment.__init__
    monkeypatch.setattr(
        environment.Environment, "__init__", lambda self, _variables: init(self, recording)
    )
    runpy.run_path(str(PROJECT / "stigmer" / "settings.py"))
    return recording.asked


def test_the_configuration_page_lists_exactly_what_the_settings_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = spoken(PROJECT / "docs" / "configuration.md")
    listed = re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE)

    # Read by the metrics, where prometheus_client itself reads it.
    read = asked_by_settings(monkeypatch) | {"PROMETHEUS_MULTIPROC_DIR"}

    assert sorted(listed) == sorted(read)


@by_page
def test_every_variable_that_is_named_is_on_the_configuration_page(page: Path) -> None:
    known = set(re.findall(r"`([A-Z][A-Z_]+)`", spoken(PROJECT / "docs" / "configuration.md")))
    own = {"POSTGRES_PASSWORD", "WEB_WORKERS", "STIGMER_CHROMIUM"}

    named = set(re.findall(r"\b((?:STIGMER|WORKITEM)_[A-Z_]*[A-Z])\b", spoken(page)))

    assert named <= known | own


# Links --------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", spoken(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@by_page
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", spoken(page)):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        aim = page.parent / file if file else page
        if not aim.exists() or (anchor and anchor not in anchors(aim)):
            dead.append(target)

    assert dead == []


def test_every_page_is_linked_from_the_readme() -> None:
    readme = spoken(PROJECT / "README.md")

    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in readme] == []


# Codes and dependencies ---------------------------------------------------------------------------


def test_the_api_page_names_every_code_that_can_be_answered() -> None:
    page = spoken(PROJECT / "docs" / "api.md")
    ours = {code for code, kind in REFUSALS.items() if not kind.__module__.startswith("tests.")}

    assert sorted(code for code in ours if f"`{code}`" not in page) == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads(spoken(PROJECT / "pyproject.toml"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {re.split(r"[\[>=<]", line)[0] for group in groups for line in group}
    page = spoken(PROJECT / "docs" / "dependencies.md")

    reasons = re.findall(r"^\| `([A-Za-z0-9-]+)` \|", page, re.MULTILINE)

    assert sorted(reasons) == sorted(declared)


# The tours ----------------------------------------------------------------------------------------


class Sent(NamedTuple):
    method: str
    url: str
    headers: dict[str, str]
    body: str | None


def understood(words: list[str]) -> Sent:
    """A command line of curl's, as far as the tours speak it."""
    method, url, headers, body, query = "", "", {}, None, ""
    rest = iter(words)
    for word in rest:
        if word == "-X":
            method = next(rest)
        elif word == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(rest)
        elif word == "-G":
            method = "GET"
        elif word == "--data-urlencode":
            name, _, value = next(rest).partition("=")
            query += ("&" if query else "?") + f"{name}={quote(value)}"
        else:
            assert not word.startswith("-"), words
            url += word
    return Sent(method or ("POST" if body is not None else "GET"), url + query, headers, body)


def differences(told: Any, real: Any, at: str = "") -> Iterator[str]:
    """Where an answer is not what the page shows of it; ids and times differ from run to run."""
    if isinstance(told, dict) and isinstance(real, dict):
        for name, value in told.items():
            yield from differences(value, real.get(name, "(absent)"), f"{at}/{name}")
    elif isinstance(told, list) and isinstance(real, list) and len(told) == len(real):
        for place, pair in enumerate(zip(told, real, strict=True)):
            yield from differences(*pair, f"{at}/{place}")
    elif isinstance(told, str) and CHANGING.fullmatch(told):
        if not (isinstance(real, str) and CHANGING.fullmatch(real)):
            yield f"{at}: {told} is {real}"
    elif told != real:
        yield f"{at}: {told} is {real}"


class Tour:
    """Takes a page's steps against a server, and keeps what is not as the page says."""

    def __init__(self, api: str, token: str) -> None:
        self.known = {"API": api}
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        }
        self.wrong: list[str] = []
        self.seen = ""
        self.sent = 0

    def take(self, line: str, status: str, shown: str, name: str, who: str, kind: str) -> None:
        if name:
            self.known[name] = self.seen
        elif who:
            call_command("create_principal", who, "--kind", kind, stdout=StringIO())
        else:
            self.send(line, int(status), json.loads(shown) if shown else {})

    def send(self, line: str, status: int, shown: Any) -> None:
        for name, value in self.known.items():
            line = line.replace(f"${name}", value)
        sent = understood(shlex.split(line)[1:])
        headers = [(k.encode(), v.encode()) for k, v in (self.headers | sent.headers).items()]
        answer = httpx.request(sent.method, sent.url, headers=headers, content=sent.body)
        real = answer.json()
        self.sent += 1
        self.seen = real.get("work_item", {}).get("id", self.seen)
        if answer.status_code != status:
            self.wrong.append(f"{line}: {answer.status_code} {answer.text}")
        self.wrong += [f"{line}: {fault}" for fault in differences(shown, real)]


@pytest.mark.parametrize("page", TOURS, ids=lambda page: page.name)
def test_the_tour_gets_the_answers_that_it_shows(page: Path, server: str) -> None:
    made = first_run(by=system_act(), now=now())
    assert made is not None
    tour = Tour(f"{server}/api/v1", made.token)

    for step in STEP.findall(spoken(page)):
        tour.take(*step)

    assert tour.wrong == []
    assert tour.sent == len(re.findall(r"^stigmer [$\"-]", spoken(page), re.MULTILINE)) >= 10
