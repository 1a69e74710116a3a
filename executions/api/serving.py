"""What the doors of both kinds share: a page, a report, `If-Match`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.http import HttpResponse

from executions import operations, queries
from executions.api.schemas import shown
from executions.api.schemas.answers import AgentExecutionPage, WorkflowExecutionPage
from executions.kinds import AGENT, WORKFLOW, Kind
from executions.queries.lists import ANYWHERE
from executions.queries.trail import LOG, permit
from executions.states import Command
from stigmer.core.callers import Caller
from stigmer.core.errors import InvalidRequest
from stigmer.core.secrets import refuse_secrets
from stigmer.http import etags, pagination
from stigmer.http.fields import UNSET
from stigmer.http.views import Call, reply

Gate = Callable[..., Any]


def given(value: Any, absent: Any = None) -> Any:
    """The value, or what an absent one stands for."""
    return absent if value is UNSET else value


def creates(caller: Caller, data: dict[str, Any]) -> None:
    """The organization that the body names, before its other faults."""
    metadata = data.get("metadata")
    operations.creatable(caller, metadata.get("org") if isinstance(metadata, dict) else None)


def writes(kind: Kind) -> Gate:
    """Members change what they see."""
    return lambda caller, execution: queries.writable(caller, kind, execution)


def reports(kind: Kind) -> Gate:
    """Services report."""
    return lambda caller, execution: queries.reportable(caller, kind, execution)


def number(name: str, raw: Any, *, least: int, most: int, absent: int) -> int:
    """An integer of the query within its bounds. Raises InvalidRequest."""
    if raw is UNSET:
        return absent
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 18 and least <= int(raw) <= most):
        bounds = f"from {least} to {most}" if most < 10**6 else f"of at least {least}"
        raise InvalidRequest(
            f"{name} must be an integer {bounds}", pointer=name, fault="out_of_range"
        )
    return int(raw)


def counter(name: str, raw: Any) -> int:
    """Where a reader goes on; absent is 0. Raises InvalidRequest."""
    return number(name, raw, least=0, most=2**53 - 1, absent=0)


# Lists --------------------------------------------------------------------------------------------


def page(call: Call, kind: Kind) -> HttpResponse:
    """One page of executions."""
    query = call.query
    limit = pagination.limit_from(given(query.limit))
    sort = queries.Sort(query.sort.removeprefix("-"), query.sort.startswith("-"))
    if sort.key not in ANYWHERE and query.org is UNSET:
        raise InvalidRequest(f"sort={query.sort} needs org", pointer="org", fault="missing")
    bound = {
        name: value
        for name, value in msgspec.to_builtins(query).items()
        if name not in ("cursor", "limit")
    } | {"list": kind.noun}
    found = queries.executions(call.caller, kind, _filters(query, kind))
    rows = queries.after(found, sort, _position(query.cursor, bound, sort), limit + 1)
    more = len(rows) > limit
    cursor = pagination.cursor_for(rows[limit - 1].position, bound) if more else None
    items = [shown.raw(row.json) for row in rows[:limit]]
    answer = AgentExecutionPage if kind is AGENT else WorkflowExecutionPage
    return reply(answer(items=items, next_cursor=cursor))


def _position(cursor: Any, bound: dict[str, Any], sort: queries.Sort) -> Any:
    if cursor is UNSET:
        return None
    timed = sort.key in ("started_at", "created_at")
    shape = tuple[datetime | None, str] if timed else tuple[int | None, str]
    return queries.Position(*pagination.position_of(cursor, bound, shape))


def _filters(query: Any, kind: Kind) -> queries.Filters:
    plain = (
        "org", "min_duration", "max_duration", "min_cost_micros", "max_cost_micros",
        "failed_task_name", "has_retries",
    )  # fmt: skip
    return queries.Filters(
        **{name: given(getattr(query, name)) for name in plain},
        phase=tuple(given(query.phase, ())),
        started_after=_instant("started_after", query.started_after),
        started_before=_instant("started_before", query.started_before),
        target=given(getattr(query, f"{kind.target}_id")),
        labels=tuple(_label(raw) for raw in given(query.label, [])),
    )


def _instant(name: str, moment: Any) -> datetime | None:
    if moment is UNSET:
        return None
    try:
        return utc(moment)
    except OverflowError:
        detail = f"{name} is not within the years 1 to 9999 in UTC"
        raise InvalidRequest(detail, pointer=name, fault="out_of_range") from None


def utc(moment: datetime) -> datetime:
    """The same instant as the database gives it."""
    return moment.astimezone(UTC)


def _label(raw: str) -> tuple[str, str]:
    key, equals, value = raw.partition("=")
    if not key or not equals:
        raise InvalidRequest("label must be key=value", pointer="label", fault="pattern")
    return key, value


def log_page(call: Call, execution: str) -> dict[str, Any]:
    """Which page of the log is asked for; what is wrong with it is told to who may read it."""
    query = call.query
    try:
        after = counter("after_sequence", query.after_sequence)
        limit = number("page_size", query.page_size, least=1, most=500, absent=100)
    except InvalidRequest:
        permit(call.caller, WORKFLOW, execution, LOG)
        raise
    return {
        "after": after,
        "limit": limit,
        "types": given(query.event_type, ()),
        "task": given(query.task_name),
    }


# Reports and commands -----------------------------------------------------------------------------


def report(call: Call, kind: Kind, id: str) -> operations.Reported:
    """Merge what a runner says."""
    body = call.body
    status = body.status
    return operations.report_status(
        kind=kind,
        id=id,
        claim_token=given(body.claim_token),
        by=call.act(),
        now=call.now,
        report=operations.Report(
            phase=given(status.phase, ""),
            tasks=given(status.tasks, []),
            output=status.output,
            error=given(status.error, ""),
            started_at=_moment(status.started_at),
            completed_at=_moment(status.completed_at),
            engine_ref=given(status.engine_ref, ""),
            cost_micros=status.total_cost_micros,
            input_tokens=status.total_input_tokens,
            output_tokens=status.total_output_tokens,
            approvals=_switched(body.update_pending_approvals, status.pending_approvals),
            reviews=_switched(body.update_pending_file_reviews, status.pending_file_reviews),
            child=given(body.pending_update_child_agent_execution_id, ""),
            events=tuple(_event(one) for one in given(getattr(body, "events", UNSET), ())),
        ),
    )


def _moment(value: Any) -> datetime | None:
    return None if value is UNSET else utc(value)


def _switched(switch: bool, entries: Any) -> Any:
    return given(entries, []) if switch else None


def _event(one: Any) -> operations.Event:
    return operations.Event(
        sequence_number=one.sequence_number,
        event_type=one.event_type,
        event_id=given(one.event_id, ""),
        task_name=given(one.task_name, ""),
        occurred_at=_moment(one.occurred_at),
        data=one.data,
    )


def command(call: Call, kind: Kind, id: str, name: str) -> HttpResponse:
    """Ask an execution to stop, hold or go on."""
    reason = given(call.body.reason, "")
    refuse_secrets(reason=reason)
    row = operations.command_execution(
        kind=kind, id=id, command=Command(name), reason=reason, by=call.act(), now=call.now
    )
    return reply(shown.execution_of(row))


def expected(call: Call) -> Callable[[queries.ExecutionRow], bool] | None:
    """What judges `If-Match` on the row under its lock; None without the header."""
    tags = etags.wanted(call.request)
    if tags is None:
        return None
    return lambda row: etags.holds(tags, msgspec.json.encode(shown.execution_of(row)))


def tagged(row: queries.ExecutionRow) -> HttpResponse:
    """The execution with its entity tag."""
    answer = shown.execution_of(row)
    return reply(answer, ETag=etags.etag_of(msgspec.json.encode(answer)))
