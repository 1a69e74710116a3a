"""Migrations that run outside of a transaction, killed and run again."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.workitems.world import rows

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = ("workitems", "0001_work_items")
GRAMS = ("workitems", "0002_longer_grams")
INDEXES = """
    SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relname LIKE 'work_item_title_grams%' ORDER BY 1
"""


def migrate(target: tuple[str, str], *, fake: bool = False) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate([target], fake=fake)


@pytest.mark.slow
def test_an_index_whose_building_was_killed_is_built_again() -> None:
    migrate(BEFORE, fake=True)
    with connection.cursor() as cursor:
        # What a killed CREATE INDEX CONCURRENTLY leaves.
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false "
            "WHERE indexrelid = 'work_item_title_grams5'::regclass"
        )

    migrate(GRAMS)

    assert rows(INDEXES) == [("work_item_title_grams5", True)]


@pytest.mark.slow
def test_the_old_index_comes_back_and_goes_again() -> None:
    migrate(BEFORE)
    assert rows(INDEXES) == [("work_item_title_grams", True)]

    migrate(GRAMS)

    assert rows(INDEXES) == [("work_item_title_grams5", True)]
