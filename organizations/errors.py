"""What can be refused about organizations, members, tokens and slugs."""

from stigmer.core.errors import Conflict, Forbidden, NotFound


class OrganizationNotFound(NotFound):
    """There is no such organization.

    It does not exist, was deleted, or you are not a member.
    """

    code = "organization_not_found"


class MemberNotFound(NotFound):
    """There is no such member.

    The principal does not exist or has no membership in this organization.
    """

    code = "member_not_found"


class PrincipalNotFound(NotFound):
    """There is no such principal.

    Nobody has this name, or who had it was deactivated.
    """

    code = "principal_not_found"


class TokenNotFound(NotFound):
    """There is no such token of yours."""

    code = "token_not_found"


class SlugReserved(Conflict):
    """This slug can never be taken.

    It belonged to an organization that is gone, or it is a word that addresses need. Choose
    another slug.
    """

    code = "organization_slug_reserved"


class LastOwner(Conflict):
    """An organization needs an owner.

    The last owner cannot leave or be demoted. Make somebody else an owner first.
    """

    code = "last_owner"


class OrganizationNotEmpty(Conflict):
    """The organization still has open work.

    `details` counts the work items and executions that are not terminal. End them first.
    """

    code = "organization_not_empty"


class SurfaceRouteNotAllowed(Forbidden):
    """A surface may not use this route.

    A surface relays for its users on the relay routes and calls nothing else by itself.
    """

    code = "surface_route_not_allowed"
