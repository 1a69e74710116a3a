"""What can be refused about executions."""

from stigmer.core.errors import Conflict, EngineFailed, NotFound, Unavailable


class ExecutionNotFound(NotFound):
    """There is no such execution.

    It does not exist, or you cannot see it.
    """

    code = "execution_not_found"

    @classmethod
    def of(cls, noun: str, id: str) -> "ExecutionNotFound":
        """The refusal for an id that does not exist or that the caller may not see."""
        return cls(f"{noun} not found: {id}")


class TaskNotFound(NotFound):
    """This execution has no such task."""

    code = "task_not_found"


class FailedPrecondition(Conflict):
    """The execution is not in a state for this.

    Its phase, or its engine, does not allow it now. Read it again before you retry.
    """

    code = "failed_precondition"


class Aborted(Conflict):
    """Another request is doing exactly this now.

    Wait for the seconds in `Retry-After`, then retry with the same key.
    """

    code = "aborted"


class ApprovalAlreadyDecided(Conflict):
    """This task was decided otherwise.

    The runner has not reacted yet. A decision is made once.
    """

    code = "approval_already_decided"


class ClaimLost(Conflict):
    """The claim on this execution is not yours.

    The lease lapsed, somebody else holds it, or it was reset. Stop the work and claim anew.
    """

    code = "claim_lost"
    default_detail = "the claim token is not the current one of this execution"


class EngineUnavailable(Unavailable):
    """The execution engine is not connected.

    Nothing was written. Retry later with the same idempotency key.
    """

    code = "engine_unavailable"
    default_detail = "The execution engine is temporarily unavailable. Please try again shortly."


class EngineStartFailed(EngineFailed):
    """The engine did not start the execution.

    The execution exists and is `EXECUTION_FAILED`; `details` names it.
    """

    code = "engine_start_failed"


class EngineSignalFailed(EngineFailed):
    """The engine did not take the signal.

    It was not delivered. Retry with the same idempotency key.
    """

    code = "engine_signal_failed"
    default_detail = "failed to send signal to workflow"


class EngineCommandFailed(EngineFailed):
    """The engine did not take the command.

    Nothing has changed. Retry.
    """

    code = "engine_command_failed"


class EventLogFailed(Unavailable):
    """The event log could not be read."""

    code = "event_log_failed"
    status = 500
    default_detail = "failed to query execution events"
