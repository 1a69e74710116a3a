"""Tests of the pages that explain problems."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.test import Client

from stigmer.core.errors import REFUSALS
from stigmer.http.pages import explained

CODES = sorted({*REFUSALS, "internal_error"})


class Outline(HTMLParser):
    """Every tag of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_its_page(client: Client, code: str) -> None:
    answer = client.get(f"/problems/{code}", headers={"Accept": "text/html"})

    page = answer.content.decode()
    assert answer.status_code == 200
    assert code in page
    outline = Outline(page)
    assert outline.count("h1") == outline.count("main") == outline.count("title") == 1
    assert ("html", {"lang": "en"}) in outline.tags


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_told_as_json(client: Client, code: str) -> None:
    told = client.get(f"/problems/{code}", headers={"Accept": "application/json"}).json()

    assert told["code"] == code
    assert told["title"]
    assert told["status"] == explained()[code].status


def test_the_index_lists_every_code(client: Client) -> None:
    page = client.get("/problems").content.decode()
    listed = client.get("/problems", headers={"Accept": "application/json"}).json()["items"]

    assert re.findall(r'href="/problems/(\w+)"', page) == CODES
    assert [entry["code"] for entry in listed] == CODES


def test_a_page_runs_nothing_and_loads_nothing(client: Client) -> None:
    answer = client.get("/problems")

    outline = Outline(answer.content.decode())
    assert not {"script", "link", "img", "iframe", "form"} & {tag for tag, _ in outline.tags}
    assert not any("style" in attributes for _, attributes in outline.tags)
    assert "style-src 'sha256-" in answer["Content-Security-Policy"]


@pytest.mark.parametrize("code", ["nothing", "ALREADY_EXISTS", "<script>", "../problems"])
def test_an_unknown_code_has_no_page(client: Client, code: str) -> None:
    answer = client.get(f"/problems/{code}")

    assert answer.status_code == 404
    assert "<script>" not in answer.content.decode()
