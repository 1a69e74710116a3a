"""What can be refused about work items."""

from stigmer.core.errors import Conflict, Forbidden, NotFound


class WorkItemNotFound(NotFound):
    """There is no such work item.

    It does not exist, or you cannot see it.
    """

    code = "work_item_not_found"
    default_detail = "work item not found"


class TenantForbidden(Forbidden):
    """You have no access to this tenant.

    You are not a member of the organization that the request names.
    """

    code = "tenant_forbidden"
    default_detail = "you have no access to this tenant"


class StateVersionConflict(Conflict):
    """The item has changed.

    `expected_state_version` is not the item's version. `details` carries the state and version as
    they are now: read the item, decide again, and retry with the new version.
    """

    code = "state_version_conflict"


class ExternalKeyInUse(Conflict):
    """Other open work holds this external key.

    Open work of the organization carries it with another visibility or another owner.
    """

    code = "external_key_in_use"
    default_detail = "open work with this external key cannot be shared with this request"


class ExecutionActive(Conflict):
    """An execution of this item is still open.

    One execution runs at a time. Wait for its end, or report it.
    """

    code = "execution_active"


class IntentNotFound(NotFound):
    """There is no such intent on this item."""

    code = "intent_not_found"
    default_detail = "intent not found"
