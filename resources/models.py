"""Tables of documents, their versions, and what bootstrap remembers."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import GinIndex, HashIndex, OpClass
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.lookups import Exact

from resources.columns import JsonType, parent, terms
from resources.kinds import INDEXED_FIELDS, KINDS, STORED, VERSIONED
from resources.states import Visibility
from stigmer.core.constraints import CASCADE_OR_PURGE, byte_length, frozen, one_of, refuse
from stigmer.core.models import ByteText, Record, actor_key


def _is(json_type: str, *fields: str) -> list[models.CheckConstraint]:
    return [
        models.CheckConstraint(
            name=f"resource_{field}_is_{json_type}",
            condition=Exact(JsonType(F(field)), Value(json_type)),
        )
        for field in fields
    ]


def _prefixed() -> Q:
    matches = Q()
    for kind in STORED:
        matches |= Q(kind=kind, id__startswith=f"{KINDS[kind].prefix}_")
    return matches


class Resource(Record):
    """One row is one document.

    `sealed` holds secret values by name; `words` the folded texts that search reads; `parent` is
    the id that the spec names where the kind has a parent.
    """

    id = ByteText(primary_key=True, editable=False)
    kind = ByteText(editable=False)
    organization = models.ForeignKey(
        "organizations.OrganizationSlug",
        on_delete=models.PROTECT,
        db_column="organization",
        db_index=False,
        related_name="+",
    )
    slug = ByteText()
    name = models.TextField()
    visibility = ByteText()
    labels = models.JSONField(default=dict)
    annotations = models.JSONField(default=dict)
    tags = models.JSONField(default=list)
    spec = models.JSONField(default=dict)
    status = models.JSONField(default=dict)
    sealed = models.JSONField(default=dict, editable=False)
    words = models.JSONField(default=dict, editable=False)
    parent = models.GeneratedField(
        expression=parent(), output_field=ByteText(null=True), db_persist=True
    )
    terms = models.GeneratedField(
        expression=terms(), output_field=SearchVectorField(), db_persist=True
    )
    resource_version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField()
    created_by = actor_key(db_column="created_by")
    updated_at = models.DateTimeField()
    updated_by = actor_key(db_column="updated_by")

    class Meta:
        constraints = [
            one_of("resource_kind_known", "kind", STORED),
            models.CheckConstraint(name="resource_id_has_the_prefix", condition=_prefixed()),
            one_of("resource_visibility_known", "visibility", Visibility),
            byte_length("resource_name_bytes", "name", 256),
            models.CheckConstraint(
                name="resource_slug_form",
                condition=Q(slug__regex=r"^[a-z][a-z0-9-]{0,61}[a-z0-9]$"),
            ),
            models.CheckConstraint(
                name="resource_version_positive", condition=Q(resource_version__gte=1)
            ),
            *_is("object", "labels", "annotations", "spec", "status", "sealed", "words"),
            *_is("array", "tags"),
            models.CheckConstraint(
                name="resource_sealed_where_kinds_seal",
                condition=Q(kind__in=["environment", "mcp_server"]) | Q(sealed={}),
            ),
            models.UniqueConstraint(
                fields=["organization", "kind", "slug"], name="resource_slug_once"
            ),
            models.UniqueConstraint(
                fields=["parent"],
                name="resource_default_instance_once",
                condition=Q(kind="workflow_instance", status__default=True),
            ),
        ]
        indexes = [
            models.Index(
                "organization",
                "kind",
                F("created_at").desc(),
                F("id").desc(),
                name="resource_list",
            ),
            models.Index("kind", F("created_at").desc(), F("id").desc(), name="resource_kind_list"),
            models.Index(F("created_at").desc(), F("id").desc(), name="resource_newest"),
            models.Index(
                "parent",
                F("created_at").desc(),
                F("id").desc(),
                name="resource_parent_list",
                condition=Q(parent__isnull=False),
            ),
            models.Index(fields=["kind", "id"], name="resource_scan"),
            GinIndex(OpClass("labels", "jsonb_path_ops"), name="resource_labels"),
            GinIndex("terms", name="resource_terms"),
            # Hashes, because a text of any length must fit.
            *(
                HashIndex(KeyTextTransform(field, "spec"), name=f"resource_spec_{field}")
                for field in INDEXED_FIELDS
            ),
        ]
        triggers = [
            frozen(
                "resource_identity_is_kept",
                "id",
                "kind",
                "organization",
                "slug",
                "created_at",
                "created_by",
            ),
            pgtrigger.Trigger(
                name="resource_version_rises_by_one",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                func=f"""
                    IF NEW.resource_version IS DISTINCT FROM OLD.resource_version + 1 THEN
                        {
                    refuse(
                        "resource_version_rises_by_one",
                        "resource_version rises by one on every write",
                    )
                }
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]


class ResourceVersion(Record):
    """One row is one spec that a document had; only its tag ever changes."""

    id = models.BigAutoField(primary_key=True)
    kind = ByteText()
    resource = models.ForeignKey(
        Resource, on_delete=models.DO_NOTHING, db_index=False, related_name="+"
    )
    version_hash = ByteText()
    tag = ByteText(null=True)
    archived_at = models.DateTimeField()
    archived_by = actor_key(db_column="archived_by")
    snapshot = models.JSONField()

    class Meta:
        constraints = [
            one_of("resource_version_kind_keeps_versions", "kind", VERSIONED),
            models.CheckConstraint(
                name="resource_version_hash_form",
                condition=Q(version_hash__regex=r"^[0-9a-f]{64}$"),
            ),
            byte_length("resource_version_tag_bytes", "tag", 128),
            models.UniqueConstraint(
                fields=["resource", "tag"],
                name="resource_version_tag_once",
                condition=Q(tag__isnull=False),
            ),
        ]
        indexes = [
            models.Index(
                "resource",
                F("archived_at").desc(),
                F("id").desc(),
                name="resource_version_newest",
            ),
            models.Index(
                "resource",
                "version_hash",
                F("archived_at").desc(),
                F("id").desc(),
                name="resource_version_by_hash",
            ),
        ]
        triggers = [
            frozen(
                "resource_version_is_history",
                "id",
                "kind",
                "resource_id",
                "version_hash",
                "archived_at",
                "archived_by",
                "snapshot",
            ),
            pgtrigger.Trigger(
                name="resource_version_goes_with_its_document",
                when=pgtrigger.Before,
                operation=pgtrigger.Delete,
                func=f"""
                    IF NOT {CASCADE_OR_PURGE} THEN
                        {
                    refuse(
                        "resource_version_goes_with_its_document",
                        "versions are deleted all at once or with their document",
                    )
                }
                    END IF;
                    RETURN OLD;
                """,
            ),
        ]


class BootstrapState(Record):
    """One row is one thing that bootstrap remembers."""

    key = ByteText(primary_key=True)
    value = models.TextField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [byte_length("bootstrap_state_key_bytes", "key", 512)]
