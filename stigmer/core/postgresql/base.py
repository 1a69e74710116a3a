"""The database backend (`ENGINE = "stigmer.core.postgresql"`)."""

from __future__ import annotations

import select
from datetime import UTC, datetime
from typing import Any

from django.db.backends.postgresql import base
from psycopg.adapt import Loader


class UtcLoader(Loader):
    """Timestamps of a session in UTC; a tenth of what Django's loader takes for each."""

    # Django asks a loader for its zone before it trusts it with a cursor.
    timezone = UTC

    def load(self, data: Any) -> datetime:
        """`2026-11-30 21:00:36.673025+00` as an aware datetime."""
        return datetime.fromisoformat(bytes(data).decode()).replace(tzinfo=UTC)


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        connection.adapters.register_loader("timestamptz", UtcLoader)
        return connection

    def is_usable(self) -> bool:
        """Whether the server still listens, without a round trip when nothing speaks against it.

        An idle connection has nothing to read; what it has to read is its end, or a notice that
        a query tells apart.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return super().is_usable() if waiting.poll(0) else True
