"""Rules that PostgreSQL keeps: checks, triggers, cascades, and their names turned into refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pgtrigger
from django.db import IntegrityError, models, transaction
from django.db.migrations.operations.base import Operation
from django.db.models import Q

from stigmer.core.errors import Refusal

# Null where no transaction of the session has set it: a rule that negates it would let all pass.
PURGING = "current_setting('stigmer.purge', true) IS NOT DISTINCT FROM 'on'"
# A cascade reaches a table through the parent's own trigger, so the depth here is at least 2.
CASCADE_OR_PURGE = f"(pg_trigger_depth() > 1 OR {PURGING})"


class OctetLength(models.Transform):
    """`field__octets`: the number of UTF-8 bytes."""

    lookup_name = "octets"
    function = "OCTET_LENGTH"
    output_field = models.IntegerField()


models.TextField.register_lookup(OctetLength)


def byte_length(name: str, field: str, most: int, least: int = 1) -> models.CheckConstraint:
    """A CHECK that this text has from `least` to `most` bytes; null passes."""
    return models.CheckConstraint(
        name=name, condition=Q(**{f"{field}__octets__range": (least, most)})
    )


def one_of(name: str, field: str, values: Any) -> models.CheckConstraint:
    """A CHECK that this field holds one of these values."""
    return models.CheckConstraint(
        name=name, condition=Q(**{f"{field}__in": [str(v) for v in values]})
    )


def refuse(name: str, message: str) -> str:
    """PL/pgSQL that raises an integrity error carrying this constraint name."""
    return (
        f"RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation', "
        f"CONSTRAINT = '{name}';"
    )


def append_only(name: str) -> pgtrigger.Trigger:
    """A trigger that refuses UPDATE and DELETE, save by cascade and by a purge."""
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.Before,
        operation=pgtrigger.Update | pgtrigger.Delete,
        func=f"""
            IF {CASCADE_OR_PURGE} THEN
                IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                RETURN NEW;
            END IF;
            {refuse(name, "history is append only")}
        """,
    )


def frozen(name: str, *columns: str, when: str = "true") -> pgtrigger.Trigger:
    """A trigger that refuses a change of these columns where `when` (SQL over OLD, NEW) holds."""
    changed = " OR ".join(f"NEW.{c} IS DISTINCT FROM OLD.{c}" for c in columns)
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        func=f"""
            IF ({when}) AND ({changed}) THEN
                {refuse(name, "this cannot be changed: " + ", ".join(columns))}
            END IF;
            RETURN NEW;
        """,
    )


@contextmanager
def refusing(**by_constraint: Callable[[], Refusal]) -> Iterator[None]:
    """Turn the violation of a named constraint into its refusal; others pass as they are.

    Runs in a savepoint, so that the transaction around it stays usable.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        refusal = by_constraint.get(getattr(diagnosis, "constraint_name", None) or "")
        if refusal is None:
            raise
        raise refusal() from error


class CascadeKey(Operation):
    """Make a foreign key's constraint ON DELETE CASCADE in the database.

    Django sends nothing (the field says DO_NOTHING); PostgreSQL deletes the children.
    """

    reduces_to_sql = True
    reversible = True

    def __init__(self, model_name: str, field_name: str) -> None:
        self.model_name = model_name
        self.field_name = field_name

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The model state does not know of it."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        self._rebuild(schema_editor, to_state.apps.get_model(app_label, self.model_name), "CASCADE")

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        self._rebuild(
            schema_editor, from_state.apps.get_model(app_label, self.model_name), "NO ACTION"
        )

    def _rebuild(self, schema_editor: Any, model: Any, action: str) -> None:
        # Django queues new foreign keys behind the tables; they must stand to be replaced.
        while schema_editor.deferred_sql:
            schema_editor.execute(schema_editor.deferred_sql.pop(0))
        field = model._meta.get_field(self.field_name)
        target = field.remote_field.model._meta
        names = schema_editor._constraint_names(model, [field.column], foreign_key=True)
        quote = schema_editor.quote_name
        for name in names:
            schema_editor.execute(
                f"ALTER TABLE {quote(model._meta.db_table)} DROP CONSTRAINT {quote(name)}, "
                f"ADD CONSTRAINT {quote(name)} FOREIGN KEY ({quote(field.column)}) "
                f"REFERENCES {quote(target.db_table)} ({quote(field.target_field.column)}) "
                f"ON DELETE {action} DEFERRABLE INITIALLY DEFERRED"
            )

    def describe(self) -> str:
        return f"Cascade deletes along {self.model_name}.{self.field_name}"
