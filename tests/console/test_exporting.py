"""Exports: the filtered list, whole, streamed, harmless in a spreadsheet."""

import csv
import io
import json
from collections.abc import Callable

import pytest
from django.test import Client

from stigmer.console.base import exporting
from tests import factories
from tests.console.items import Open

ITEMS = "/console/workitems/workitem/"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_is_neutralized(start: str) -> None:
    assert exporting.neutral(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize("text", ["", "plain", "1-1", "a=b", " =1"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert exporting.neutral(text) == text


@pytest.mark.django_db
def test_csv_neutralizes_titles(root: Client, open_item: Open) -> None:
    open_item('=HYPERLINK("http://evil.example")')

    answer = root.get(f"{ITEMS}export/csv/")
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))

    assert answer["Content-Type"].startswith("text/csv")
    assert answer["Content-Disposition"] == 'attachment; filename="work-items.csv"'
    assert [row["title"] for row in rows] == ['\'=HYPERLINK("http://evil.example")']


@pytest.mark.django_db
def test_json_lines_keep_titles_as_they_are(root: Client, open_item: Open) -> None:
    item = open_item("=1+1 レポート\n")

    lines = root.get(f"{ITEMS}export/jsonl/").getvalue().decode().splitlines()

    row = json.loads(lines[0])
    assert (len(lines), row["id"], row["title"]) == (1, item, "=1+1 レポート\n")
    assert row["state_version"] == 1


@pytest.mark.django_db
def test_every_row_comes_once_over_many_batches(
    root: Client, open_item: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "BATCH", 2)
    at = factories.now()
    items = {open_item(f"Item {number}", now=at) for number in range(7)}

    rows = root.get(f"{ITEMS}export/csv/").getvalue().decode().splitlines()[1:]

    assert len(rows) == 7
    assert {row.split(",")[0] for row in rows} == items


@pytest.mark.django_db
def test_an_export_is_of_the_filtered_list(root: Client, open_item: Open) -> None:
    open_item("From acme")
    open_item("From globex", tenant="globex", owner="mallory")

    path = f"{ITEMS}export/csv/?organization__slug__exact=globex"
    content = root.get(path).getvalue().decode()

    assert "From globex" in content
    assert "From acme" not in content


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["export/xlsx/", "export//"])
def test_another_form_is_no_page(root: Client, path: str) -> None:
    assert root.get(f"{ITEMS}{path}").status_code == 404


@pytest.mark.django_db
def test_an_export_is_streamed(signed_in: Callable[..., Client], open_item: Open) -> None:
    client = signed_in("vera", "workitems.view_workitem")

    assert client.get(f"{ITEMS}export/jsonl/").streaming
