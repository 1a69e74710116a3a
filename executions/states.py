"""Phases of an execution, the commands that change them, and the states of what hangs on one."""

from enum import StrEnum
from typing import NamedTuple

from stigmer.core.states import Machine


class Phase(StrEnum):
    """How far an execution is; the order is the order of `sort=status`."""

    PENDING = "EXECUTION_PENDING"  # waits for its engine; a runner's report moves it on
    IN_PROGRESS = "EXECUTION_IN_PROGRESS"  # at work; the runner's reports move it on
    PAUSED = "EXECUTION_PAUSED"  # held; `resume` brings it back
    WAITING_FOR_APPROVAL = "EXECUTION_WAITING_FOR_APPROVAL"  # an agent waits for a person
    COMPLETED = "EXECUTION_COMPLETED"  # done; final
    FAILED = "EXECUTION_FAILED"  # failed; only `recover` moves it on
    CANCELLED = "EXECUTION_CANCELLED"  # asked to stop; only `recover` moves it on
    TERMINATED = "EXECUTION_TERMINATED"  # stopped at once; only `recover` moves it on

    @property
    def short(self) -> str:
        """The name without its prefix, as refusals spell it."""
        return self.value.removeprefix("EXECUTION_")


RANK = {phase.value: place for place, phase in enumerate(Phase)}
_ENDS = {
    phase.value: phase
    for phase in (Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED, Phase.TERMINATED)
}
_WORKING = {Phase.IN_PROGRESS.value: Phase.IN_PROGRESS, **_ENDS}

# An action is the report of a phase; the phase that an execution has already is a heartbeat.
PHASES = Machine(
    Phase,
    {
        Phase.PENDING: _WORKING,
        Phase.IN_PROGRESS: {
            Phase.PAUSED.value: Phase.PAUSED,
            Phase.WAITING_FOR_APPROVAL.value: Phase.WAITING_FOR_APPROVAL,
            **_ENDS,
        },
        Phase.PAUSED: _WORKING,
        Phase.WAITING_FOR_APPROVAL: _WORKING,
        Phase.COMPLETED: {},
        Phase.FAILED: {},
        Phase.CANCELLED: {},
        Phase.TERMINATED: {},
    },
)
LIVE = tuple(phase.value for phase in Phase if phase in PHASES.open)
ENDED = tuple(phase.value for phase in Phase if phase in PHASES.terminal)


class Command(StrEnum):
    """What a member may ask of an execution."""

    CANCEL = "cancel"
    TERMINATE = "terminate"
    PAUSE = "pause"
    RESUME = "resume"
    RECOVER = "recover"


class Move(NamedTuple):
    """Where a command leads, from where, and how its refusal spells that."""

    target: Phase
    sources: tuple[Phase, ...]
    past: str

    @property
    def allowed(self) -> str:
        """The sources as a refusal names them: `PENDING or IN_PROGRESS`."""
        *first, last = (phase.short for phase in self.sources)
        return f"{', '.join(first)} or {last}" if first else last


COMMANDS = {
    Command.CANCEL: Move(Phase.CANCELLED, (Phase.PENDING, Phase.IN_PROGRESS), "cancelled"),
    Command.TERMINATE: Move(
        Phase.TERMINATED,
        (Phase.PENDING, Phase.IN_PROGRESS, Phase.PAUSED, Phase.WAITING_FOR_APPROVAL),
        "terminated",
    ),
    Command.PAUSE: Move(Phase.PAUSED, (Phase.IN_PROGRESS,), "paused"),
    Command.RESUME: Move(Phase.IN_PROGRESS, (Phase.PAUSED,), "resumed"),
    Command.RECOVER: Move(
        Phase.IN_PROGRESS, (Phase.FAILED, Phase.CANCELLED, Phase.TERMINATED), "recovered"
    ),
}
SIGNALABLE = (Phase.PENDING, Phase.IN_PROGRESS)


class TaskStatus(StrEnum):
    """How far one task of a workflow is; the runner's reports move it on."""

    PENDING = "WORKFLOW_TASK_PENDING"  # not begun
    IN_PROGRESS = "WORKFLOW_TASK_IN_PROGRESS"  # at work
    COMPLETED = "WORKFLOW_TASK_COMPLETED"  # done
    FAILED = "WORKFLOW_TASK_FAILED"  # failed
    SKIPPED = "WORKFLOW_TASK_SKIPPED"  # not needed
    WAITING_APPROVAL = "WORKFLOW_TASK_WAITING_APPROVAL"  # a person's decision moves it on


class Visibility(StrEnum):
    """Who sees an execution."""

    ORG = "visibility_org"  # every member of the organization
    PRIVATE = "visibility_private"  # whoever started it


class InboxKind(StrEnum):
    """What a runner can find in its inbox."""

    SIGNAL = "signal"
    APPROVAL = "approval"
    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    TERMINATE = "terminate"


class ClaimStatus(StrEnum):
    """Where the delivery of a signal with a key stands."""

    CLAIMED = "CLAIMED"  # a request delivers it; its mark, its release or the expiry moves it on
    DELIVERED = "DELIVERED"  # delivered; a duplicate is refused until it expires


class Decision(StrEnum):
    """What a person decides about a task that waits."""

    APPROVE = "approve"
    REJECT = "reject"
