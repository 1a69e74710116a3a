"""The database backend: cheap health checks that still see a dead server, timestamps in UTC."""

from datetime import UTC, datetime

import pytest
from django.db import OperationalError, connection
from psycopg import connect

pytestmark = pytest.mark.django_db(transaction=True)


def test_timestamps_are_aware_and_in_utc_to_the_microsecond() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT '2026-01-02 03:04:05.000006+02'::timestamptz, NULL::timestamptz")
        found, nothing = cursor.fetchone()
        cursor.execute("SELECT '2026-01-02 03:04:05+00'::timestamptz")
        (whole,) = cursor.fetchone()

    assert found == datetime(2026, 1, 2, 1, 4, 5, 6, tzinfo=UTC)
    assert found.tzinfo is UTC
    assert whole == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert nothing is None


def test_a_connection_that_the_server_ended_is_not_usable() -> None:
    connection.ensure_connection()
    assert connection.is_usable()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()

    _terminate(pid)

    assert not connection.is_usable()
    connection.close()


def test_a_healthy_connection_is_checked_without_a_statement(
    django_assert_num_queries: object,
) -> None:
    connection.ensure_connection()
    sent: list[str] = []

    def watch(execute: object, sql: str, params: object, many: bool, context: object) -> object:
        sent.append(sql)
        return execute(sql, params, many, context)  # type: ignore[operator]

    with connection.execute_wrapper(watch):
        assert connection.is_usable()

    assert sent == []


def test_a_statement_on_a_dead_connection_is_an_operational_error() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        _terminate(cursor.fetchone()[0])
        with pytest.raises(OperationalError):
            cursor.execute("SELECT 1")
    connection.close()


def _terminate(pid: int) -> None:
    params = connection.get_connection_params()
    wanted = {k: params[k] for k in ("dbname", "user", "password", "host", "port") if k in params}
    with connect(**wanted, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
