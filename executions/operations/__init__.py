"""Every write on executions: one function, one transaction."""

from executions.operations.approving import Decided, decide_task, deciding
from executions.operations.changing import change_execution, delete_execution
from executions.operations.claiming import (
    Claimed,
    InboxRow,
    claim_execution,
    extend_lease,
    read_inbox,
    runner_only,
)
from executions.operations.commands import command_execution
from executions.operations.creating import Created, NewExecution, creatable, create_execution
from executions.operations.reporting import Event, Report, Reported, report_status
from executions.operations.signals import send_signal

__all__ = [
    "Claimed",
    "Created",
    "Decided",
    "Event",
    "InboxRow",
    "NewExecution",
    "Report",
    "Reported",
    "change_execution",
    "claim_execution",
    "command_execution",
    "creatable",
    "create_execution",
    "decide_task",
    "deciding",
    "delete_execution",
    "extend_lease",
    "read_inbox",
    "report_status",
    "runner_only",
    "send_signal",
]
