import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.functions.text
import django.db.models.lookups
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import resources.columns
import stigmer.core.models
from stigmer.core.constraints import CascadeKey


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_organizations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BootstrapState",
            fields=[
                ("key", stigmer.core.models.ByteText(primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("updated_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("key__octets__range", (1, 512))),
                        name="bootstrap_state_key_bytes",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Resource",
            fields=[
                (
                    "id",
                    stigmer.core.models.ByteText(editable=False, primary_key=True, serialize=False),
                ),
                ("kind", stigmer.core.models.ByteText(editable=False)),
                ("slug", stigmer.core.models.ByteText()),
                ("name", models.TextField()),
                ("visibility", stigmer.core.models.ByteText()),
                ("labels", models.JSONField(default=dict)),
                ("annotations", models.JSONField(default=dict)),
                ("tags", models.JSONField(default=list)),
                ("spec", models.JSONField(default=dict)),
                ("status", models.JSONField(default=dict)),
                ("sealed", models.JSONField(default=dict, editable=False)),
                ("words", models.JSONField(default=dict, editable=False)),
                (
                    "parent",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                kind="session",
                                then=django.db.models.functions.text.Left(
                                    django.db.models.fields.json.KeyTextTransform(
                                        "agent_instance_id", "spec"
                                    ),
                                    64,
                                ),
                            ),
                            models.When(
                                kind="agent_instance",
                                then=django.db.models.functions.text.Left(
                                    django.db.models.fields.json.KeyTextTransform(
                                        "agent_id", "spec"
                                    ),
                                    64,
                                ),
                            ),
                            models.When(
                                kind="agent_share",
                                then=django.db.models.functions.text.Left(
                                    django.db.models.fields.json.KeyTextTransform(
                                        "agent_id", "spec"
                                    ),
                                    64,
                                ),
                            ),
                            models.When(
                                kind="agent_channel",
                                then=django.db.models.functions.text.Left(
                                    django.db.models.fields.json.KeyTextTransform(
                                        "agent_id", "spec"
                                    ),
                                    64,
                                ),
                            ),
                            models.When(
                                kind="workflow_instance",
                                then=django.db.models.functions.text.Left(
                                    django.db.models.fields.json.KeyTextTransform(
                                        "workflow_id", "spec"
                                    ),
                                    64,
                                ),
                            ),
                            models.When(
                                kind="schedule",
                                then=django.db.models.functions.text.Left(
                                    django.db.models.fields.json.KeyTextTransform("target", "spec"),
                                    64,
                                ),
                            ),
                            default=None,
                        ),
                        output_field=stigmer.core.models.ByteText(null=True),
                    ),
                ),
                (
                    "terms",
                    models.GeneratedField(
                        db_persist=True,
                        expression=resources.columns.Joined(
                            resources.columns.Words(models.F("words"), key="name", weight="A"),
                            resources.columns.Words(models.F("words"), key="tags", weight="B"),
                            resources.columns.Words(
                                models.F("words"), key="description", weight="C"
                            ),
                        ),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                ("resource_version", models.BigIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        db_column="created_by",
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="name",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_column="organization",
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.organizationslug",
                    ),
                ),
                (
                    "updated_by",
                    models.ForeignKey(
                        db_column="updated_by",
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="name",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ResourceVersion",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", stigmer.core.models.ByteText()),
                ("version_hash", stigmer.core.models.ByteText()),
                ("tag", stigmer.core.models.ByteText(null=True)),
                ("archived_at", models.DateTimeField()),
                ("snapshot", models.JSONField()),
                (
                    "archived_by",
                    models.ForeignKey(
                        db_column="archived_by",
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="name",
                    ),
                ),
                (
                    "resource",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="resources.resource",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="resource",
            index=models.Index(
                models.F("organization"),
                models.F("kind"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="resource_list",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=models.Index(
                models.F("kind"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="resource_kind_list",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=models.Index(
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="resource_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=models.Index(
                models.F("parent"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("parent__isnull", False)),
                name="resource_parent_list",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=models.Index(fields=["kind", "id"], name="resource_scan"),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass("labels", "jsonb_path_ops"),
                name="resource_labels",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.GinIndex(
                models.F("terms"), name="resource_terms"
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.HashIndex(
                django.db.models.fields.json.KeyTextTransform("agent_id", "spec"),
                name="resource_spec_agent_id",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.HashIndex(
                django.db.models.fields.json.KeyTextTransform("client_id", "spec"),
                name="resource_spec_client_id",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.HashIndex(
                django.db.models.fields.json.KeyTextTransform("issuer", "spec"),
                name="resource_spec_issuer",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.HashIndex(
                django.db.models.fields.json.KeyTextTransform("target", "spec"),
                name="resource_spec_target",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.HashIndex(
                django.db.models.fields.json.KeyTextTransform("url", "spec"),
                name="resource_spec_url",
            ),
        ),
        migrations.AddIndex(
            model_name="resource",
            index=django.contrib.postgres.indexes.HashIndex(
                django.db.models.fields.json.KeyTextTransform("workflow_id", "spec"),
                name="resource_spec_workflow_id",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "iam_policy",
                            "invitation",
                            "identity_provider",
                            "oauth_app",
                            "platform_client",
                            "team",
                            "agent",
                            "session",
                            "skill",
                            "mcp_server",
                            "agent_instance",
                            "agent_share",
                            "agent_channel",
                            "channel_app",
                            "workflow",
                            "workflow_instance",
                            "environment",
                            "artifact",
                            "schedule",
                            "memory",
                            "plugin",
                            "subscription",
                        ],
                    )
                ),
                name="resource_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("id__startswith", "iamp_"), ("kind", "iam_policy")),
                    models.Q(("id__startswith", "inv_"), ("kind", "invitation")),
                    models.Q(("id__startswith", "idp_"), ("kind", "identity_provider")),
                    models.Q(("id__startswith", "oapp_"), ("kind", "oauth_app")),
                    models.Q(("id__startswith", "pcl_"), ("kind", "platform_client")),
                    models.Q(("id__startswith", "tm_"), ("kind", "team")),
                    models.Q(("id__startswith", "agt_"), ("kind", "agent")),
                    models.Q(("id__startswith", "ses_"), ("kind", "session")),
                    models.Q(("id__startswith", "skl_"), ("kind", "skill")),
                    models.Q(("id__startswith", "mcp_"), ("kind", "mcp_server")),
                    models.Q(("id__startswith", "ain_"), ("kind", "agent_instance")),
                    models.Q(("id__startswith", "ash_"), ("kind", "agent_share")),
                    models.Q(("id__startswith", "ach_"), ("kind", "agent_channel")),
                    models.Q(("id__startswith", "chapp_"), ("kind", "channel_app")),
                    models.Q(("id__startswith", "wfl_"), ("kind", "workflow")),
                    models.Q(("id__startswith", "win_"), ("kind", "workflow_instance")),
                    models.Q(("id__startswith", "env_"), ("kind", "environment")),
                    models.Q(("id__startswith", "art_"), ("kind", "artifact")),
                    models.Q(("id__startswith", "sch_"), ("kind", "schedule")),
                    models.Q(("id__startswith", "mem_"), ("kind", "memory")),
                    models.Q(("id__startswith", "plg_"), ("kind", "plugin")),
                    models.Q(("id__startswith", "sub_"), ("kind", "subscription")),
                    _connector="OR",
                ),
                name="resource_id_has_the_prefix",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "visibility__in",
                        ["visibility_private", "visibility_org", "visibility_public"],
                    )
                ),
                name="resource_visibility_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=models.Q(("name__octets__range", (1, 256))), name="resource_name_bytes"
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=models.Q(("slug__regex", "^[a-z][a-z0-9-]{0,61}[a-z0-9]$")),
                name="resource_slug_form",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=models.Q(("resource_version__gte", 1)), name="resource_version_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    resources.columns.JsonType(models.F("labels")), models.Value("object")
                ),
                name="resource_labels_is_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    resources.columns.JsonType(models.F("annotations")), models.Value("object")
                ),
                name="resource_annotations_is_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    resources.columns.JsonType(models.F("spec")), models.Value("object")
                ),
                name="resource_spec_is_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    resources.columns.JsonType(models.F("status")), models.Value("object")
                ),
                name="resource_status_is_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    resources.columns.JsonType(models.F("sealed")), models.Value("object")
                ),
                name="resource_sealed_is_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    resources.columns.JsonType(models.F("words")), models.Value("object")
                ),
                name="resource_words_is_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    resources.columns.JsonType(models.F("tags")), models.Value("array")
                ),
                name="resource_tags_is_array",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["environment", "mcp_server"]), ("sealed", {}), _connector="OR"
                ),
                name="resource_sealed_where_kinds_seal",
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.UniqueConstraint(
                fields=("organization", "kind", "slug"), name="resource_slug_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="resource",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "workflow_instance"), ("status__default", True)),
                fields=("parent",),
                name="resource_default_instance_once",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="resource",
            trigger=pgtrigger.compiler.Trigger(
                name="resource_identity_is_kept",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n            IF (true) AND (NEW.id IS DISTINCT FROM OLD.id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.organization IS DISTINCT FROM OLD.organization OR NEW.slug IS DISTINCT FROM OLD.slug OR NEW.created_at IS DISTINCT FROM OLD.created_at OR NEW.created_by IS DISTINCT FROM OLD.created_by) THEN\n                RAISE EXCEPTION 'this cannot be changed: id, kind, organization, slug, created_at, created_by' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'resource_identity_is_kept';\n            END IF;\n            RETURN NEW;\n        ",
                    hash="71c41ca71158ace4045332cbe5f257af037431ff",
                    operation="UPDATE",
                    pgid="pgtrigger_resource_identity_is_kept_35504",
                    table="resources_resource",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="resource",
            trigger=pgtrigger.compiler.Trigger(
                name="resource_version_rises_by_one",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n                    IF NEW.resource_version IS DISTINCT FROM OLD.resource_version + 1 THEN\n                        RAISE EXCEPTION 'resource_version rises by one on every write' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'resource_version_rises_by_one';\n                    END IF;\n                    RETURN NEW;\n                ",
                    hash="3cd203fce109da6eb141ee11357523a6d7d7db77",
                    operation="UPDATE",
                    pgid="pgtrigger_resource_version_rises_by_one_af2d3",
                    table="resources_resource",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="resourceversion",
            index=models.Index(
                models.F("resource"),
                models.OrderBy(models.F("archived_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="resource_version_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="resourceversion",
            index=models.Index(
                models.F("resource"),
                models.F("version_hash"),
                models.OrderBy(models.F("archived_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="resource_version_by_hash",
            ),
        ),
        migrations.AddConstraint(
            model_name="resourceversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["skill", "workflow", "plugin"])),
                name="resource_version_kind_keeps_versions",
            ),
        ),
        migrations.AddConstraint(
            model_name="resourceversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("version_hash__regex", "^[0-9a-f]{64}$")),
                name="resource_version_hash_form",
            ),
        ),
        migrations.AddConstraint(
            model_name="resourceversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("tag__octets__range", (1, 128))),
                name="resource_version_tag_bytes",
            ),
        ),
        migrations.AddConstraint(
            model_name="resourceversion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("tag__isnull", False)),
                fields=("resource", "tag"),
                name="resource_version_tag_once",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="resourceversion",
            trigger=pgtrigger.compiler.Trigger(
                name="resource_version_is_history",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n            IF (true) AND (NEW.id IS DISTINCT FROM OLD.id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.resource_id IS DISTINCT FROM OLD.resource_id OR NEW.version_hash IS DISTINCT FROM OLD.version_hash OR NEW.archived_at IS DISTINCT FROM OLD.archived_at OR NEW.archived_by IS DISTINCT FROM OLD.archived_by OR NEW.snapshot IS DISTINCT FROM OLD.snapshot) THEN\n                RAISE EXCEPTION 'this cannot be changed: id, kind, resource_id, version_hash, archived_at, archived_by, snapshot' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'resource_version_is_history';\n            END IF;\n            RETURN NEW;\n        ",
                    hash="fc7a0173a168829e77f203de5ffdfd6712d6869b",
                    operation="UPDATE",
                    pgid="pgtrigger_resource_version_is_history_ae4b4",
                    table="resources_resourceversion",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="resourceversion",
            trigger=pgtrigger.compiler.Trigger(
                name="resource_version_goes_with_its_document",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n                    IF NOT (pg_trigger_depth() > 1 OR current_setting('stigmer.purge', true) IS NOT DISTINCT FROM 'on') THEN\n                        RAISE EXCEPTION 'versions are deleted all at once or with their document' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'resource_version_goes_with_its_document';\n                    END IF;\n                    RETURN OLD;\n                ",
                    hash="35c77ccf9087ea65c48feef0144d6caa5ad0747a",
                    operation="DELETE",
                    pgid="pgtrigger_resource_version_goes_with_its_document_c6b44",
                    table="resources_resourceversion",
                    when="BEFORE",
                ),
            ),
        ),
        CascadeKey("resourceversion", "resource"),
    ]
