"""Swagger UI and the problem pages in a real browser, under their content security policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.test_browser import browser

__all__ = ["browser"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab in which any complaint and any request to another host fails the test."""
    tab = browser.new_page()
    faults: list[str] = []
    tab.on("console", lambda message: faults.append(message.text) if complains(message) else None)
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("request", lambda request: faults.append(request.url) if foreign(request) else None)
    yield tab
    tab.close()
    assert faults == []


def complains(message: Any) -> bool:
    return message.type in ("error", "warning")


def foreign(request: Any) -> bool:
    return not request.url.startswith(("http://localhost", "http://127.0.0.1", "data:"))


def test_swagger_shows_an_operation_with_its_problems(live_server: Any, page: Page) -> None:
    page.goto(f"{live_server.url}/api/v1/docs")

    page.get_by_text("Open a work item", exact=True).click()

    opened = page.locator(".opblock.is-open")
    expect(opened).to_contain_text("idempotency_key_reused")
    expect(opened).to_contain_text("Idempotency-Key")
    expect(opened).to_contain_text("429")


def test_a_problem_page_is_styled_and_leads_to_the_others(live_server: Any, page: Page) -> None:
    page.goto(f"{live_server.url}/problems/already_exists")

    expect(page.locator("main")).to_have_css("max-width", "768px")
    page.get_by_role("link", name="All problems").click()

    expect(page.get_by_role("rowheader", name="already_exists", exact=True)).to_be_visible()
