"""Console pages of organizations, the slug ledger, principals and their tokens."""

from organizations.admin.organizations import (
    MembershipAdmin,
    OrganizationAdmin,
    OrganizationSlugAdmin,
)
from organizations.admin.people import ApiTokenAdmin, PrincipalAdmin

__all__ = [
    "ApiTokenAdmin",
    "MembershipAdmin",
    "OrganizationAdmin",
    "OrganizationSlugAdmin",
    "PrincipalAdmin",
]
