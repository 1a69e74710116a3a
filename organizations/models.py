"""Tables of principals, tokens, organizations, memberships and the slug ledger."""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models import Q

from organizations.states import PrincipalKind, Role
from stigmer.core.constraints import byte_length, frozen, one_of, refuse
from stigmer.core.models import ByteText, IdField, LockingQuerySet, Record, actor_key


class PrincipalManager(BaseUserManager["Principal"]):
    """Finds principals by name, as Django's sign-in does."""

    def get_by_natural_key(self, username: str | None) -> Principal:
        return self.get(name=username)


class Principal(AbstractBaseUser, PermissionsMixin):
    """One row is one who acts: a human, a service or a surface. Never deleted, only deactivated.

    `name` is unique and immutable, so history references principals by it.
    """

    id = IdField("prn")
    name = ByteText(unique=True)
    kind = models.TextField(choices=[(k.value, k.value) for k in PrincipalKind])
    display_name = models.TextField(blank=True, default="")
    email = models.EmailField(blank=True, default="")
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(editable=False)

    objects = PrincipalManager.from_queryset(LockingQuerySet)()

    USERNAME_FIELD = "name"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            byte_length("principal_name_bytes", "name", 256),
            one_of("principal_kind_known", "kind", PrincipalKind),
            models.CheckConstraint(
                name="principal_profile_is_human",
                condition=Q(kind="human") | Q(display_name="", email=""),
            ),
            models.CheckConstraint(
                name="principal_surface_is_never_admin",
                condition=~Q(kind="surface") | Q(is_staff=False, is_superuser=False),
            ),
        ]
        triggers = [
            frozen("principal_name_is_immutable", "id", "name", "kind"),
            pgtrigger.Protect(name="principal_is_never_deleted", operation=pgtrigger.Delete),
        ]

    def get_full_name(self) -> str:
        return str(self.display_name or self.name)

    def get_short_name(self) -> str:
        return str(self.name)


class ApiToken(Record):
    """One row is one token of a principal; the secret itself is never stored, only its digest."""

    id = IdField("tok")
    principal = actor_key(db_column="principal", db_index=True)
    name = models.TextField()
    digest = ByteText(unique=True, editable=False)
    created_at = models.DateTimeField(editable=False)
    expires_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [byte_length("api_token_name_bytes", "name", 64)]
        triggers = [
            frozen("api_token_is_immutable", "id", "principal", "digest", "created_at"),
            frozen("api_token_stays_revoked", "revoked_at", when="OLD.revoked_at IS NOT NULL"),
        ]


class SignInAttempts(Record):
    """One row counts the sign-ins of one name from one address since the last that succeeded."""

    digest = ByteText(primary_key=True, editable=False)
    attempts = models.IntegerField(editable=False)
    until = models.DateTimeField(db_index=True, editable=False)

    class Meta:
        verbose_name_plural = "sign-in attempts"


class OrganizationSlug(Record):
    """One row is one slug that an organization ever took; retired for good when it is gone."""

    slug = ByteText(primary_key=True)
    claimed_at = models.DateTimeField(editable=False)
    retired_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="organization_slug_form",
                condition=Q(slug__regex=r"^[a-z][a-z0-9-]{0,61}[a-z0-9]$"),
            )
        ]
        triggers = [
            frozen("organization_slug_is_kept", "slug", "claimed_at"),
            frozen(
                "organization_slug_stays_retired", "retired_at", when="OLD.retired_at IS NOT NULL"
            ),
            pgtrigger.Trigger(
                name="organization_slug_retired_is_never_deleted",
                when=pgtrigger.Before,
                operation=pgtrigger.Delete,
                func=f"""
                    IF OLD.retired_at IS NOT NULL THEN
                        {
                    refuse(
                        "organization_slug_retired_is_never_deleted",
                        "a retired slug is never freed",
                    )
                }
                    END IF;
                    RETURN OLD;
                """,
            ),
        ]


class Organization(Record):
    """One row is one live organization; its id is its slug, which the ledger owns."""

    slug = models.OneToOneField(
        OrganizationSlug,
        on_delete=models.PROTECT,
        primary_key=True,
        db_column="slug",
        related_name="organization",
    )
    name = models.TextField()
    description = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(editable=False)
    updated_at = models.DateTimeField(editable=False)

    class Meta:
        constraints = [
            byte_length("organization_name_bytes", "name", 256),
            byte_length("organization_description_bytes", "description", 500, least=0),
        ]
        indexes = [models.Index(fields=["-created_at", "slug"], name="organization_newest")]


class Membership(Record):
    """One row is one principal's role in one organization."""

    organization = models.ForeignKey(
        OrganizationSlug, on_delete=models.PROTECT, db_column="organization", related_name="+"
    )
    principal = actor_key(db_column="principal", db_index=True)
    role = models.TextField(choices=[(r.value, r.value) for r in Role])
    created_at = models.DateTimeField(editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "principal"], name="membership_once_per_organization"
            ),
            one_of("membership_role_known", "role", Role),
        ]
