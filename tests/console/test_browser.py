"""The console in a real browser: sign in, work an item, meet the refusals."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from organizations.operations.attempts import ATTEMPTS
from organizations.operations.principals import set_password
from stigmer.core.callers import system_act
from tests import factories
from tests.console.items import Open, move, say
from workitems.models import WorkItem, WorkItemEvent

PASSWORD = "correct horse battery"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def chromium() -> str | None:
    """Where Chromium is: as told, Debian's, or None for Playwright's own."""
    told = os.environ.get("STIGMER_CHROMIUM")
    if told:
        return told
    return "/usr/bin/chromium" if Path("/usr/bin/chromium").exists() else shutil.which("chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        # Playwright keeps an event loop in this thread, where Django then refuses to work.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@dataclass
class Console:
    """A tab at the console; `faults` are what the browser complained about."""

    page: Page
    base: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> Page:
        self.page.goto(f"{self.base}/console/{path}")
        return self.page

    def enter(self, name: str, password: str = PASSWORD) -> Page:
        page = self.open()
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        return page


def watched(page: Page, base: str) -> Console:
    """A console whose tab reports errors, broken policies and requests to other hosts."""
    console = Console(page, base)

    def complain(message: Any) -> None:
        if message.type in ("error", "warning"):
            console.faults.append(message.text)

    def leave(request: Any) -> None:
        if not request.url.startswith((base, "data:", "blob:")):
            console.faults.append(f"request to {request.url}")

    page.on("console", complain)
    page.on("pageerror", lambda fault: console.faults.append(str(fault)))
    page.on("request", leave)
    return console


@pytest.fixture
def console(
    browser: Browser, live_server: Any, transactional_db: None, cast: object
) -> Iterator[Console]:
    """A tab that has not signed in; in the end the browser must not have complained."""
    set_password(principal="root", password=PASSWORD, by=system_act(), now=factories.now())
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(15_000)
    opened = watched(context.new_page(), live_server.url)
    yield opened
    context.close()
    assert opened.faults == []


@pytest.fixture
def item(console: Console) -> str:
    """An open item of alice with an intent."""
    made = Open(factories.act)("Fix the <b>door</b>")
    say(made, "make it open again")
    return made


def test_works_an_item_from_open_to_completed(console: Console, item: str) -> None:
    page = console.enter("root")
    expect(page.get_by_role("heading", name="Changed last")).to_be_visible()

    page.get_by_role("link", name="Work items").first.click()
    page.get_by_role("link", name=item).click()
    expect(page.get_by_role("heading", name="Fix the <b>door</b>")).to_be_visible()
    expect(page.get_by_text("make it open again")).to_be_visible()
    page.get_by_role("button", name="Complete").click()

    expect(page.get_by_text("Fix the <b>door</b>: completed")).to_be_visible()
    expect(page.get_by_role("button", name="Complete")).to_have_count(0)
    assert WorkItem.objects.get(pk=item).state == "completed"
    assert WorkItemEvent.objects.filter(work_item=item).latest("seq").surface == "console"


def test_a_stale_page_is_refused_with_its_message(console: Console, item: str) -> None:
    console.enter("root")
    page = console.open(f"workitems/workitem/{item}/change/")
    move(item, "wait", waiting_reason="input")

    page.get_by_role("button", name="Archive").click()

    expect(page.locator(".errornote")).to_contain_text("Fix the <b>door</b>")
    expect(page.get_by_text("waiting: input").first).to_be_visible()
    assert WorkItem.objects.get(pk=item).state == "waiting"


def test_many_items_are_archived_after_a_confirmation(console: Console, item: str) -> None:
    other = Open(factories.act)("Paint the wall")
    console.enter("root")
    page = console.open("workitems/workitem/")

    for box in page.locator("input.action-select").all():
        box.check()
    page.locator("select[name=action]").select_option("archive")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("heading", name="Archive: 2 work items?")).to_be_visible()
    page.get_by_role("button", name="Archive 2").click()

    expect(page.get_by_role("heading", name="Archive: 2 archived, 0 refused")).to_be_visible()
    assert set(WorkItem.objects.values_list("pk", "state")) == {
        (item, "archived"),
        (other, "archived"),
    }


def test_wrong_passwords_lock_out_the_right_one(console: Console) -> None:
    for _ in range(ATTEMPTS):
        page = console.enter("root", "wrong password")
        expect(page.locator(".errornote").first).to_be_visible()

    page = console.enter("root")

    expect(page.get_by_text("Too many failed attempts").first).to_be_visible()
    expect(page.get_by_label("Password")).to_be_visible()


def test_filters_by_organization_with_the_keyboard_alone(console: Console, item: str) -> None:
    Open(factories.act)("In globex", owner="mallory", tenant="globex")
    console.enter("root")
    page = console.open("workitems/workitem/")

    page.get_by_role("button", name="Filters").focus()
    page.keyboard.press("Enter")
    page.get_by_label("By surface").fill("portal")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing here for this search")).to_be_visible()

    page.get_by_role("link", name="Show everything").click()
    expect(page.get_by_text("In globex")).to_be_visible()


def test_signs_out_with_the_keyboard_alone(console: Console) -> None:
    page = console.enter("root")

    page.locator(".console-user").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Log out").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("successfully logged out")).to_be_visible()

    assert console.open().url.startswith(f"{console.base}/console/login/")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_its_window(
    console: Console, item: str, browser: Browser, width: int, scheme: Any
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    narrow = watched(context.new_page(), console.base)
    narrow.enter("root")
    pages = (
        "",
        "workitems/workitem/",
        f"workitems/workitem/{item}/change/",
        "organizations/organization/acme/change/",
        "organizations/principal/",
        "django_celery_beat/periodictask/",
    )

    for path in pages:
        page = narrow.open(path)
        over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert over <= 0, path
        assert page.locator("html.dark").count() == (scheme == "dark"), path

    context.close()
    assert narrow.faults == []
