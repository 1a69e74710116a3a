"""The lifecycle of a work item and the phases of its executions: one table, one place."""

from enum import StrEnum

from stigmer.core.states import Machine


class WorkItemState(StrEnum):
    """Where a piece of work stands."""

    ACTIVE = "active"  # somebody works on it; the caller or an approval request moves it on
    WAITING = "waiting"  # needs a person's input or approval; resume brings it back
    COMPLETED = "completed"  # done; nothing moves it on
    SUPERSEDED = "superseded"  # another item replaces it; nothing moves it on
    ARCHIVED = "archived"  # put away undone; nothing moves it on


_ENDS = {
    "complete": WorkItemState.COMPLETED,
    "supersede": WorkItemState.SUPERSEDED,
    "archive": WorkItemState.ARCHIVED,
}

LIFECYCLE = Machine(
    WorkItemState,
    {
        WorkItemState.ACTIVE: {
            "wait": WorkItemState.WAITING,
            "resume": WorkItemState.ACTIVE,
            "request_approval": WorkItemState.WAITING,
            **_ENDS,
        },
        WorkItemState.WAITING: {
            "resume": WorkItemState.ACTIVE,
            "request_approval": WorkItemState.WAITING,
            **_ENDS,
        },
        WorkItemState.COMPLETED: {},
        WorkItemState.SUPERSEDED: {},
        WorkItemState.ARCHIVED: {},
    },
)

# What a caller may ask of PATCH; resume and approvals have their own routes.
TRANSITIONS = ("wait", "complete", "supersede", "archive")


class WaitingReason(StrEnum):
    """What a waiting item waits for."""

    INPUT = "input"  # a person's answer
    APPROVAL = "approval"  # a person's decision


class Visibility(StrEnum):
    """Who sees an item."""

    TENANT = "tenant"  # every member of the organization
    PRIVATE = "private"  # its owner


class EventKind(StrEnum):
    """What can happen to an item."""

    CREATED = "created"
    STATE_CHANGED = "state_changed"
    RESUMED = "resumed"
    INTENT_APPENDED = "intent_appended"
    EXECUTION_ATTACHED = "execution_attached"
    SURFACE_LINKED = "surface_linked"
    SNAPSHOT_SEALED = "snapshot_sealed"
    EXECUTION_REQUESTED = "execution_requested"
    EXECUTION_REQUEST_CLAIMED = "execution_request_claimed"
    EXECUTION_REQUEST_FULFILLED = "execution_request_fulfilled"
    EXECUTION_REQUEST_REJECTED = "execution_request_rejected"
    APPROVAL_REQUESTED = "approval_requested"
    APPROVAL_DECIDED = "approval_decided"


class Engine(StrEnum):
    """Who runs an execution."""

    TEMPORAL = "temporal"
    ARGO = "argo"
    STIGMER = "stigmer"


class Phase(StrEnum):
    """How far an execution is."""

    PENDING = "Pending"  # accepted by the engine, which starts it
    RUNNING = "Running"  # at work; the engine's report ends it
    SUCCEEDED = "Succeeded"  # ended well; final
    FAILED = "Failed"  # the work failed; final
    ERROR = "Error"  # the engine failed; final


_OUTCOMES = {phase.value: phase for phase in (Phase.SUCCEEDED, Phase.FAILED, Phase.ERROR)}

# An action is the report of a phase; an earlier or equal phase moves nothing.
PHASES = Machine(
    Phase,
    {
        Phase.PENDING: {"Running": Phase.RUNNING, **_OUTCOMES},
        Phase.RUNNING: {**_OUTCOMES},
        Phase.SUCCEEDED: {},
        Phase.FAILED: {},
        Phase.ERROR: {},
    },
)
