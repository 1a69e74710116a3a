"""Titles are searched by grams of five characters; writes go on while the index is built.

Outside of a transaction, so every step may follow a run that was killed anywhere.
"""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations

from stigmer.core.grams import Grams


def _created(name: str, length: int) -> str:
    return f"""
        CREATE OR REPLACE FUNCTION {name}(folded text) RETURNS tsvector
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
            SELECT array_to_tsvector(array_agg(DISTINCT substr(folded, place, {length})))
            FROM generate_series(1, length(folded)) AS place
        $$
    """


def _dropped(name: str) -> str:
    return f"DROP FUNCTION IF EXISTS {name}(text)"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("workitems", "0001_work_items")]
    operations = [
        migrations.RunSQL(_created("stigmer_grams5", 5), _dropped("stigmer_grams5")),
        # What a killed build left is invalid, and its name is taken.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS work_item_title_grams5", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "workitemtitle", GinIndex(Grams("folded"), name="work_item_title_grams5")
        ),
        RemoveIndexConcurrently("workitemtitle", "work_item_title_grams"),
        migrations.RunSQL(_dropped("stigmer_grams"), _created("stigmer_grams", 3)),
    ]
