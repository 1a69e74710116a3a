"""Who may see a document."""

from enum import StrEnum


class Visibility(StrEnum):
    """Who sees a document."""

    PRIVATE = "visibility_private"  # whoever created it, and platform admins
    ORG = "visibility_org"  # every member of the organization
    PUBLIC = "visibility_public"  # everybody who has a token, whatever their organization


# What the targeted updates of a workflow instance may set.
INSTANCE_VISIBILITIES = (Visibility.PRIVATE, Visibility.ORG)
