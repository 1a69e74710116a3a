"""What can be refused about documents and their versions."""

from stigmer.core.errors import Conflict, NotFound, RouteNotFound, Unavailable


class UnknownKind(NotFound):
    """There is no such kind of resource here.

    Kinds are snake_case in addresses. Executions have routes of their own.
    """

    code = "unknown_kind"

    def __init__(self, kind: str) -> None:
        super().__init__(f"unknown kind: {kind}")


class ResourceNotFound(RouteNotFound):
    """There is no such resource."""

    @classmethod
    def of(cls, kind: str, id: str) -> "ResourceNotFound":
        """The refusal for an id that does not exist or that the caller may not see."""
        return cls(f"resource not found: {kind}/{id}")


class VersionNotFound(NotFound):
    """There is no such version of this resource.

    No version has this hash or tag, or the resource keeps no versions.
    """

    code = "version_not_found"


class InUse(Conflict):
    """Something live still uses this resource.

    `details` counts what uses it: instances of a workflow, running executions of an instance.
    """

    code = "in_use"


class LoadFailed(Unavailable):
    """Something that the request refers to could not be loaded.

    Whether it exists is not known. Nothing was written.
    """

    code = "load_failed"
    status = 500
