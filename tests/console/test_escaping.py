"""What people write is text on every page, and what was taken away stays away."""

import pytest
from django.test import Client

from organizations.models import ApiToken
from tests import factories
from tests.console.items import Open, move, say
from workitems.models import WorkItemIntent

pytestmark = pytest.mark.django_db
ITEMS = "/console/workitems/workitem/"
HOSTILE = "<script>alert(1)</script> {{7*7}} https://evil.example \" onload='x'"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"


def content(client: Client, path: str, **data: object) -> str:
    answer = client.post(path, data, follow=True) if data else client.get(path)
    return str(answer.content.decode())


def clean(page: str) -> None:
    assert ESCAPED in page
    assert "<script>alert" not in page
    assert 'href="https://evil.example' not in page


def test_a_hostile_title_is_text_in_lists_and_on_the_dashboard(
    root: Client, open_item: Open
) -> None:
    open_item(HOSTILE)

    clean(content(root, ITEMS))
    clean(content(root, "/console/"))


def test_a_hostile_title_is_text_on_its_page_and_in_messages(root: Client, open_item: Open) -> None:
    item = open_item(HOSTILE, external_key="<b>key</b>")

    page = content(root, f"{ITEMS}{item}/change/")
    after = content(root, f"{ITEMS}act/complete/", row=item, version="1", back="1")

    clean(page)
    assert "<b>key</b>" not in page
    clean(after)


def test_a_hostile_title_is_text_in_a_bulk_action(root: Client, open_item: Open) -> None:
    item = open_item(HOSTILE)

    clean(content(root, ITEMS, action="archive", _selected_action=item))
    clean(content(root, f"{ITEMS}act/archive/", row=item, version="1"))


def test_hostile_intents_are_text(root: Client, open_item: Open) -> None:
    item = open_item()
    say(item, HOSTILE, params={"<i>": "<b>bold</b>"})

    page = content(root, f"{ITEMS}{item}/change/")

    clean(page)
    assert "<b>bold</b>" not in page
    assert "<i>" not in page


def test_a_hostile_search_is_text(root: Client, open_item: Open) -> None:
    page = content(root, f"{ITEMS}?q=%3Cscript%3Ealert(1)%3C/script%3E")

    clean(page)


def test_hostile_names_of_organizations_are_text(root: Client) -> None:
    from organizations.operations.organizations import update_organization

    update_organization(
        slug="acme", name=HOSTILE, description=HOSTILE, by=factories.act(), now=factories.now()
    )

    clean(content(root, "/console/organizations/organization/"))
    clean(content(root, "/console/organizations/organization/acme/change/"))


def test_a_redacted_intent_shows_as_redacted(root: Client, open_item: Open) -> None:
    item = open_item()
    say(item, "what was once said")
    WorkItemIntent.objects.filter(work_item=item).update(text=None, params=None)

    page = content(root, f"{ITEMS}{item}/change/")

    assert "redacted" in page
    assert "what was once said" not in page


def test_a_token_shows_the_beginning_of_its_digest_alone(root: Client) -> None:
    secret = factories.make_token("alice")
    token = ApiToken.objects.get(principal="alice")

    pages = [
        content(root, "/console/organizations/apitoken/"),
        content(root, f"/console/organizations/apitoken/{token.pk}/change/"),
        root.get("/console/organizations/apitoken/export/csv/").getvalue().decode(),
    ]

    for page in pages:
        assert token.digest[9:] not in page
        assert secret not in page
    assert token.digest[:8] in pages[0]


def test_the_timeline_has_events_and_intents_in_one_order(root: Client, open_item: Open) -> None:
    item = open_item()
    say(item, "first words")
    move(item, "wait", waiting_reason="approval")
    say(item, "last words")

    page = content(root, f"{ITEMS}{item}/change/")

    places = [page.index(text) for text in ("last words", "state changed", "first words")]
    assert places == sorted(places)
