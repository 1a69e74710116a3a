"""Indexes for the search of executions by the words of their names."""

from django.db import migrations

# `executions.queries.searching` asks in the same words; a test sees that the index is used.
TERMS = r"""setweight(to_tsvector('simple',
    regexp_replace(lower(normalize(name, NFKC)), '[!-/:-@\[-`{-~]', ' ', 'g')), 'A')"""


def _index(table: str) -> migrations.RunSQL:
    name = f"{table}_words"
    return migrations.RunSQL(
        f"CREATE INDEX {name} ON {table} USING gin (({TERMS}))", f"DROP INDEX {name}"
    )


class Migration(migrations.Migration):
    dependencies = [("executions", "0001_executions")]
    operations = [_index("executions_workflowexecution"), _index("executions_agentexecution")]
