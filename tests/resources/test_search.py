"""Search: words, scores, counts and who may find what; the query is text and never syntax."""

# ruff: noqa: RUF001 words of many scripts
from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from resources.operations import documents
from resources.search import Search, search
from stigmer.core.search import fold
from tests import factories
from tests.resources.conftest import body, make, make_instance

pytestmark = pytest.mark.django_db


def find(who: str = "vera", **asked: Any) -> Any:
    kinds = frozenset(asked.pop("kinds", ()))
    return search(factories.caller(who), Search(kinds=kinds, **asked))


def names(who: str = "vera", **asked: Any) -> list[str]:
    return [hit.name for hit in find(who, **asked).items]


DOCUMENTS = frozenset({"agent", "skill", "environment"})


# Words --------------------------------------------------------------------------------------------


def test_words_and_together_across_name_tags_and_description(stored: Any) -> None:
    spec = {"instructions": "x", "description": "Answers angry customers"}
    stored("agent", "Support Desk", tags=["night shift"], spec=spec)
    stored("agent", "Support Bot")

    assert names(q="support night customers") == ["Support Desk"]
    assert names(q="support missing") == []
    assert set(names(q="SUPPORT")) == {"Support Desk", "Support Bot"}


def test_a_single_word_is_a_prefix_and_several_are_not(stored: Any) -> None:
    stored("agent", "Workflow helper")

    assert names(q="workf") == ["Workflow helper"]
    assert names(q="workf helper") == []
    assert names(q="orkflow") == []


def test_name_beats_tags_and_tags_beat_description(stored: Any) -> None:
    spec = {"instructions": "x", "description": "about invoices"}
    stored("agent", "Described", spec=spec)
    stored("agent", "Tagged", tags=["invoices"])
    stored("agent", "Invoices")

    assert names(q="invoices") == ["Invoices", "Tagged", "Described"]


def test_scores_are_above_zero_and_at_most_one(stored: Any) -> None:
    long = {"instructions": "x", "description": "word " * 5000}
    stored("agent", "word", tags=["word"] * 30, spec=long)
    stored("agent", "word at the end of a rather long name")

    found = find(q="word")

    assert len(found.items) == 2
    assert all(0 < hit.score <= 1 for hit in found.items)
    assert [hit.score for hit in found.items] == sorted(
        (hit.score for hit in found.items), reverse=True
    )


def test_without_words_it_lists_newest_first_with_score_one(cast: Any) -> None:
    for hour in (12, 14, 13):
        documents.create(
            kind="agent", document=body("agent", f"At {hour}"), by=factories.act(),
            now=datetime(2026, 1, 31, hour, tzinfo=UTC),
        )  # fmt: skip

    found = find(kinds=DOCUMENTS)

    assert [hit.name for hit in found.items] == ["At 14", "At 13", "At 12"]
    assert {hit.score for hit in found.items} == {1.0}
    assert names(q="", kinds=DOCUMENTS) == ["At 14", "At 13", "At 12"]


def test_a_query_without_a_word_finds_nothing(stored: Any) -> None:
    stored("agent", "Greeter")

    for q in ("!!!", " ", "&", "'", "\\", "%", "-", "🙂", "()"):
        found = find(q=q)
        assert (found.items, found.total_count, found.counts_by_kind) == ([], 0, {})


@pytest.mark.parametrize(
    "q",
    [
        "greeter & friendly", "greeter | nothing", "!greeter", "greeter <-> friendly",
        "greeter:*", "greeter:A", "'greeter'", "greeter' OR 1=1 --", "(greeter", "greeter)",
        "greeter \\ friendly", 'greeter "friendly"', "-greeter", "greeter -friendly",
        "$1 greeter", "%s greeter", "greeter%", "gre_ter", "{greeter}", "greeter\x00",
    ],
)  # fmt: skip
def test_operators_are_text(stored: Any, q: str) -> None:
    stored("agent", "Greeter friendly 1 or a s")
    words = fold(q).split()
    text = ["greeter", "friendly", "1", "or", "a", "s"]

    expected = [w for w in words if w not in text] == [] or (
        len(words) == 1 and any(t.startswith(words[0]) for t in text)
    )
    assert bool(names(q=q)) == expected


@pytest.mark.parametrize(
    ("name", "q"),
    [
        ("Grüße aus Köln", "GRÜSSE"),
        ("Ünïcödé agent", "ÜNÏCÖDÉ"),
        ("Cafe\u0301 agent", "café"),
        ("東京 タワー agent", "東京"),
        ("Привет мир agent", "привет"),
        ("Ｆｕｌｌｗｉｄｔｈ agent", "fullwidth"),
        ("İstanbul agent", "İstanbul"),
        ("℡ agent", "tel"),
        ("foo-bar_baz/qux.txt agent", "baz"),
        ("mail@example.com agent", "example"),
        ("agent 1e5 0x1f 10.20", "20"),
        ("हिन्दी agent", "हिन्दी"),
    ],
)
def test_unicode_words_are_found_whatever_the_case(stored: Any, name: str, q: str) -> None:
    stored("agent", name, slug="some-slug")
    stored("agent", "Other")

    assert names(q=q) == [name]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("बोल", "बाल"),
        ("हिन्दी", "हाथ नाक दाँत"),
        ("বাংলা", "বলা"),
        ("தமிழ்", "தம ழ"),
        ("עִבְרִית", "ע ב רית"),
    ],
)
def test_the_marks_of_a_script_belong_to_its_words(
    as_: Any, stored: Any, name: str, other: str
) -> None:
    stored("agent", name, slug="marked")
    stored("agent", other, slug="other")
    opened = {"tenant": "acme", "origin_surface": "cli", "title": f"1 {name}"}
    as_("alice").post("/work-items", json=opened, key="marked")

    found = [hit.kind for hit in find(q=name, kinds={"agent", "work_item"}).items]

    assert sorted(found) == ["agent", "work_item"]


@pytest.mark.parametrize("q", ["\u2764\ufe0f", "\u0301", "\ufe0f"])
def test_a_sign_or_a_mark_alone_is_no_word(q: str) -> None:
    assert fold(q) == fold(f"{q} {q}") == ""
    assert fold(f"go {q} now") == "go now"


def test_five_thousand_words(stored: Any) -> None:
    words = [f"w{number}" for number in range(5000)]
    spec = {"instructions": "x", "description": " ".join(words)}
    stored("agent", "Verbose", spec=spec)

    assert names(q=" ".join(words)) == ["Verbose"]
    assert names(q=" ".join([*words, "absent"])) == []


def test_a_giant_word_is_no_fault(as_: Any, stored: Any) -> None:
    stored("agent", "Greeter", spec={"instructions": "x", "description": "y" * 60_000})

    assert names(q="z" * 100_000) == []
    assert names(q="y" * 50_000) == ["Greeter"]
    assert as_("vera").get("/search?q=" + "z" * 5000).status_code == 200


def test_a_changed_document_is_found_by_what_it_is_now(stored: Any) -> None:
    made = stored("agent", "Before")

    def rename(document: dict[str, Any]) -> dict[str, Any]:
        document["metadata"]["name"] = "After"
        return document

    documents.update(
        kind="agent", id=made.id, modify=rename, by=factories.act(), now=factories.now()
    )

    assert (names(q="before"), names(q="after")) == ([], ["After"])


# Counts, kinds, pages -----------------------------------------------------------------------------


def test_counts_are_of_everything_and_kinds_narrow_them(stored: Any) -> None:
    for number in range(3):
        stored("agent", f"Deploy agent {number}")
    stored("skill", "Deploy skill")
    stored("team", "Deploy team")  # not searchable

    found = find(q="deploy", limit=2)

    assert len(found.items) == 2
    assert (found.total_count, found.counts_by_kind) == (4, {"agent": 3, "skill": 1})
    narrowed = find(q="deploy", kinds=["skill", "environment"])
    assert (narrowed.total_count, narrowed.counts_by_kind) == (1, {"skill": 1})


def test_pages_are_disjoint_and_whole(stored: Any) -> None:
    for number in range(7):
        stored("agent", f"Same {number}")

    pages = [find(q="same", limit=3, offset=offset).items for offset in (0, 3, 6, 9)]

    ids = [hit.id for page in pages for hit in page]
    assert len(ids) == len(set(ids)) == 7
    assert [len(page) for page in pages] == [3, 3, 1, 0]


@pytest.mark.parametrize(
    "query",
    [
        "kind=nonsense", "kind=team", "kind=Agent", "offset=-1", "offset=x", "offset=10001",
        "limit=0", "limit=501", "include_public=yes", "include_public=true&exclude_public=true",
        "q=a&q=b", "authorized_ids_by_kind=x",
    ],
)  # fmt: skip
def test_refuses_a_query_it_does_not_know(as_: Any, cast: Any, query: str) -> None:
    assert as_("vera").get(f"/search?{query}").status_code == 400


def test_the_route_answers_what_the_service_finds(as_: Any, stored: Any) -> None:
    made = stored("agent", "Greeter")
    stored("skill", "Greeting")

    answer = as_("vera").get("/search?q=greet&kind=agent&kind=skill&limit=1&offset=1")

    assert answer.status_code == 200
    assert answer.json()["counts_by_kind"] == {"agent": 1, "skill": 1}
    assert answer.json()["total_count"] == 2
    (hit,) = answer.json()["items"]
    assert 0 < hit.pop("score") <= 1
    assert hit == {
        "kind": "agent", "id": made.id, "name": "Greeter", "slug": "greeter", "org": "acme",
    }  # fmt: skip


# Who finds what -----------------------------------------------------------------------------------


@pytest.fixture
def spread(stored: Any) -> None:
    for visibility in ("private", "org", "public"):
        more = {"visibility": f"visibility_{visibility}"}
        stored("agent", f"Acme {visibility} thing", by="bob", **more)
        stored("agent", f"Globex {visibility} thing", by="mallory", org="globex", **more)


@pytest.mark.parametrize(
    ("who", "asked", "expected"),
    [
        ("bob", {}, "Ap Ao Au Gu"),
        ("alice", {}, "Ao Au Gu"),
        ("mallory", {}, "Gp Go Gu Au"),
        ("root", {}, "Ap Ao Au Gp Go Gu"),
        ("alice", {"org": "acme"}, "Ao Au"),
        ("alice", {"org": "globex"}, "Gu"),
        ("alice", {"org": "nowhere"}, ""),
        ("alice", {"org": "acme", "include_public": True}, "Ao Au Gu"),
        ("alice", {"org": "nowhere", "include_public": True}, "Au Gu"),
        ("alice", {"exclude_public": True}, "Ao"),
        ("bob", {"org": "acme", "exclude_public": True}, "Ap Ao"),
        ("root", {"org": "globex"}, "Gp Go Gu"),
        ("root", {"exclude_public": True}, "Ap Ao Gp Go"),
    ],
)
def test_scope(spread: None, who: str, asked: dict[str, Any], expected: str) -> None:
    for q in ("thing", ""):
        found = find(who, q=q, kinds=["agent"], **asked)
        short = {f"{n.split()[0][0]}{n.split()[1][1 if 'public' in n else 0]}" for n in (
            hit.name for hit in found.items)}  # fmt: skip
        assert short == set(expected.split())
        assert found.total_count == len(short)


def test_nobody_finds_what_they_cannot_read(as_: Any, spread: None) -> None:
    for who in ("alice", "bob", "vera", "mallory", "root"):
        for hit in find(who, kinds=["agent"]).items:
            assert as_(who).get(f"/resources/agent/{hit.id}").status_code == 200


def test_a_platform_admin_who_names_no_organization_is_told(as_: Any, cast: Any) -> None:
    assert as_("root").get("/search?org=nowhere").json()["code"] == "organization_not_found"
    assert as_("alice").get("/search?org=nowhere").json()["items"] == []


def test_authorized_ids_narrow_per_kind(stored: Any) -> None:
    first, _ = stored("agent", "Thing one"), stored("agent", "Thing two")
    skill = stored("skill", "Thing three")

    def found(**ids: Any) -> set[str]:
        return set(names(q="thing", authorized_ids_by_kind=ids))

    assert found() == {"Thing one", "Thing two", "Thing three"}
    assert found(agent={first.id}) == {"Thing one", "Thing three"}
    assert found(agent=set()) == {"Thing three"}
    assert found(agent=set(), skill={skill.id, "skl_nope"}) == {"Thing three"}
    assert found(agent={skill.id}, skill={first.id}) == set()
    empty = find(
        q="thing", kinds=["agent", "skill"],
        authorized_ids_by_kind={"agent": set(), "skill": set()},
    )  # fmt: skip
    assert (empty.items, empty.total_count, empty.counts_by_kind) == ([], 0, {})


# Other sources ------------------------------------------------------------------------------------


def test_organizations_are_found_by_their_members(cast: Any) -> None:
    found = find("vera", q="acme")
    assert [(h.kind, h.id, h.org) for h in found.items] == [("organization", "acme", "acme")]
    assert names("mallory", q="acme") == []
    assert set(names("root", kinds=["organization"])) == {"Acme", "Globex"}
    assert names("vera", q="ac") == ["Acme"]
    assert find("vera", q="acme", authorized_ids_by_kind={"organization": set()}).items == []


def test_work_items_are_found_by_the_words_of_their_title(as_: Any, cast: Any) -> None:
    def open_item(who: str, title: str, **more: Any) -> str:
        made = as_(who).post("/work-items", json={"tenant": "acme", "title": title, **more})
        assert made.status_code == 201, made.json()
        return str(made.json()["work_item"]["id"])

    shared = open_item("alice", "Fix the payment/gateway in KÖLN")
    private = open_item("bob", "Fix the payment of Köln quietly", visibility="private")

    assert {hit.id for hit in find("bob", q="köln fix").items} == {shared, private}
    assert [(h.kind, h.id, h.org) for h in find("vera", q="gatew").items] == [
        ("work_item", shared, "acme")
    ]
    assert find("vera", q="payment").counts_by_kind == {"work_item": 1}
    assert names("vera", q="paymen fix") == names("mallory", q="payment") == []
    assert names("vera", q="ayment") == names("vera", q="100%") == []
    assert find("vera", q="payment", org="globex").items == []
    only = find("bob", q="payment", authorized_ids_by_kind={"work_item": {private}}).items
    assert [hit.id for hit in only] == [private]
    assert names("vera", q=" ".join(f"w{n}" for n in range(5000))) == []
    assert {hit.score for hit in find("bob", kinds=["work_item"]).items} == {1.0}


def test_a_search_takes_few_statements(stored: Any, django_assert_num_queries: Any) -> None:
    for number in range(5):
        make("agent", f"Thing {number}")
    viewer = factories.caller("vera")

    with django_assert_num_queries(2):  # counts and hits
        search(viewer, Search(q="thing", kinds=frozenset({"agent", "skill"})))
    with django_assert_num_queries(10):  # documents, organizations, work items, executions
        search(viewer, Search(q="thing"))


def test_instances_are_searchable_too(stored: Any) -> None:
    make_instance(stored("workflow", "Deploy"), "Nightly run")

    assert names(q="nightly") == ["Nightly run"]
