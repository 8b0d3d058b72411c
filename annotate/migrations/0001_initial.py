import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import annotate.models.assignment
import annotate.models.person
import annotate.models.recruiting
from annotate.first_tables import FirstTables


class Migration(FirstTables):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="DatabaseLease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40, unique=True)),
                ("holder", models.CharField(blank=True, max_length=120)),
                ("expires_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="GuidelineVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("markdown", models.TextField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="ItemSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120)),
                (
                    "rule",
                    models.JSONField(default=dict, help_text='How it was drawn, such as {"kind": "import", "job": 7}.'),
                ),
                ("seed", models.BigIntegerField(blank=True, null=True)),
                ("n_population", models.PositiveIntegerField(help_text="How many items it was drawn from.")),
                ("n_items", models.PositiveIntegerField()),
                ("frozen_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(max_length=200)),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("description", models.TextField(blank=True)),
                (
                    "languages",
                    models.JSONField(blank=True, default=list, help_text="BCP-47 tags, such as en or zh-Hans."),
                ),
                (
                    "current_date",
                    models.CharField(
                        blank=True,
                        help_text="What 'today' means in the questions, shown to people and models alike.",
                        max_length=60,
                    ),
                ),
                ("time_zone", models.CharField(default="UTC", max_length=60)),
                ("protocol_name", models.CharField(blank=True, max_length=60)),
                ("protocol_version", models.CharField(blank=True, max_length=20)),
                ("is_sample", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="ProlificStudy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "link",
                    models.CharField(
                        default=annotate.models.recruiting.new_link, editable=False, max_length=22, unique=True
                    ),
                ),
                ("is_open", models.BooleanField(default=True)),
                (
                    "study_id",
                    models.CharField(blank=True, help_text="The only study of Prolific; empty: any.", max_length=64),
                ),
                ("n_answers", models.PositiveIntegerField(default=10, help_text="After so many a person is done.")),
                ("max_people", models.PositiveIntegerField(default=100)),
                ("code_done", models.CharField(blank=True, max_length=40)),
                ("code_screened_out", models.CharField(blank=True, max_length=40)),
                ("code_no_work", models.CharField(blank=True, max_length=40)),
                ("keys", models.JSONField(blank=True, default=list, help_text="Public keys: kid, n, e.")),
            ],
        ),
        migrations.CreateModel(
            name="WorkerHeartbeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120, unique=True)),
                ("role", models.CharField(max_length=12)),
                ("heard_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                ("username", models.CharField(blank=True, max_length=150, null=True, unique=True)),
                (
                    "pseudonym",
                    models.CharField(
                        default=annotate.models.person.new_pseudonym, editable=False, max_length=16, unique=True
                    ),
                ),
                ("code_digest", models.CharField(blank=True, editable=False, max_length=64, null=True, unique=True)),
                ("note", models.CharField(blank=True, help_text="Seen by admins only.", max_length=200)),
                ("is_staff", models.BooleanField(default=False)),
                ("is_active", models.BooleanField(default=True)),
                (
                    "is_sample",
                    models.BooleanField(
                        default=False, help_text="Answers of a demonstration, marked as such everywhere."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("erased_at", models.DateTimeField(blank=True, null=True)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="What it is for, as its owner calls it.", max_length=80)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("scopes", models.JSONField(default=list, help_text="Of Scope, such as ['read', 'export'].")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                (
                    "last_used_at",
                    models.DateTimeField(blank=True, help_text="To the hour: not every request writes.", null=True),
                ),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "token",
                    models.CharField(default=annotate.models.assignment.new_token, editable=False, max_length=22),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("leased", "leased"),
                            ("submitted", "submitted"),
                            ("skipped", "skipped"),
                            ("expired", "expired"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="leased",
                        max_length=10,
                    ),
                ),
                ("slot", models.PositiveIntegerField(blank=True, null=True)),
                ("round", models.PositiveSmallIntegerField(default=1)),
                ("leased_at", models.DateTimeField()),
                ("lease_expires_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "skip_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("cannot_tell", "I cannot tell"),
                            ("ambiguous", "The question can be read in several ways"),
                            ("broken", "The item is broken or unreadable"),
                            ("not_my_language", "It is not in a language I read well"),
                            ("other", "Another reason"),
                        ],
                        max_length=20,
                    ),
                ),
                ("skip_note", models.CharField(blank=True, max_length=500)),
                (
                    "shown",
                    models.JSONField(
                        blank=True,
                        help_text="What this person was shown where it is not what everybody sees: order, seed.",
                        null=True,
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "work"),
                            ("check", "check, in no figure"),
                            ("counted_check", "check that figures count"),
                            ("qualification", "qualification"),
                        ],
                        db_default="",
                        default="",
                        max_length=15,
                    ),
                ),
                (
                    "is_imported",
                    models.BooleanField(db_default=False, default=False, help_text="Answered or skipped elsewhere."),
                ),
                ("draft", models.JSONField(blank=True, null=True)),
                ("draft_version", models.PositiveIntegerField(default=0)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(default=1)),
                ("is_current", models.BooleanField(default=True)),
                ("answer", models.JSONField(help_text="Field name -> value, validated against the stage version.")),
                ("flag_note", models.CharField(blank=True, max_length=500)),
                ("is_flagged", models.BooleanField(default=False)),
                (
                    "active_seconds",
                    models.PositiveIntegerField(
                        blank=True,
                        default=0,
                        help_text="With focus and input; at most the wall time. Null: not known.",
                        null=True,
                    ),
                ),
                ("wall_seconds", models.PositiveIntegerField(blank=True, default=0, null=True)),
                (
                    "n_pastes",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="How often something was pasted into the answer. Null: not known.",
                        null=True,
                    ),
                ),
                (
                    "pasted_characters",
                    models.PositiveIntegerField(blank=True, help_text="How much; never what.", null=True),
                ),
                (
                    "n_away",
                    models.PositiveIntegerField(
                        blank=True, help_text="How often the page was left for another.", null=True
                    ),
                ),
                ("away_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("client_key", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotations",
                        to="annotate.assignment",
                    ),
                ),
                (
                    "guideline_version",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.guidelineversion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CheckResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_right", models.BooleanField(blank=True, null=True)),
                ("gold_versions", models.JSONField(default=list)),
                ("key_version", models.PositiveSmallIntegerField()),
                ("computed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="check_result",
                        to="annotate.assignment",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("taken", "taken from the answers"),
                            ("edited", "edited from one of the answers"),
                            ("own", "written by the adjudicator"),
                            ("bad", "no answer: the item is bad"),
                        ],
                        max_length=6,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                (
                    "votes_hash",
                    models.CharField(
                        help_text="Stands for exactly the votes, and the wording of the item, that the adjudicator saw.",
                        max_length=32,
                    ),
                ),
                ("n_votes", models.PositiveIntegerField(help_text="Votes that the adjudicator saw.")),
                (
                    "n_alike",
                    models.PositiveIntegerField(
                        default=0, help_text="Of those, the ones for what was taken or edited."
                    ),
                ),
                ("is_gold", models.BooleanField(default=False, help_text="Accepted as the gold label with it.")),
                (
                    "annotation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="decision", to="annotate.annotation"
                    ),
                ),
                (
                    "taken_from",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The earliest of the equal answers that were taken or edited.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.annotation",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Exclusion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(max_length=300)),
                ("rule", models.CharField(blank=True, max_length=60)),
                ("collects_again", models.BooleanField(default=False)),
                ("decided_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("lifted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exclusions",
                        to="annotate.annotation",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "lifted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FlagSettlement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("note", models.CharField(blank=True, max_length=500)),
                ("settled_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("reopened_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="settlements",
                        to="annotate.annotation",
                    ),
                ),
                (
                    "reopened_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "settled_by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FreedPlace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("has_returned", models.BooleanField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="freed_places",
                        to="annotate.assignment",
                    ),
                ),
                (
                    "exclusion",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="freed_places",
                        to="annotate.exclusion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "external_id",
                    models.CharField(help_text="Text always: 19-digit ids and leading zeros survive.", max_length=200),
                ),
                (
                    "source_position",
                    models.PositiveSmallIntegerField(blank=True, help_text="Of several written at once.", null=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="annotate.item",
                    ),
                ),
                (
                    "root",
                    models.ForeignKey(
                        blank=True,
                        help_text="The topmost parent: its table, database or duplicate group; intervals resample roots.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.item",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The work it was written in.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="annotate.assignment",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="annotate.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GoldRefusal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("field", models.CharField(max_length=60)),
                ("answer", models.JSONField()),
                (
                    "answer_hash",
                    models.CharField(help_text="SHA-256 of its key: equal ones are equal answers.", max_length=64),
                ),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("refused_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "refused_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_refusals",
                        to="annotate.item",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="exclusion",
            name="item",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="exclusions",
                to="annotate.item",
            ),
        ),
        migrations.CreateModel(
            name="ItemHand",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hands",
                        to="annotate.item",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ItemKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "strata",
                    models.JSONField(blank=True, default=list, help_text="Pairs [name, value]; a name may repeat."),
                ),
                (
                    "extra",
                    models.JSONField(
                        blank=True, default=list, help_text="Import columns that were not mapped, as pairs."
                    ),
                ),
                ("is_check", models.BooleanField(default=False)),
                (
                    "item",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="key", to="annotate.item"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ItemRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(default=1)),
                ("content", models.JSONField()),
                ("content_hash", models.CharField(help_text="SHA-256 of the content alone.", max_length=64)),
                ("language", models.CharField(blank=True, max_length=35)),
                ("is_current", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "annotation",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The answer that wrote it.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.annotation",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revisions",
                        to="annotate.item",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ItemSetEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("inclusion_probability", models.FloatField(default=1.0)),
                (
                    "item_set",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="annotate.itemset",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.itemrevision"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("admin", "admin"),
                            ("adjudicator", "adjudicator"),
                            ("meta_reviewer", "meta-reviewer"),
                            ("annotator", "annotator"),
                            ("viewer", "viewer"),
                        ],
                        max_length=20,
                    ),
                ),
                ("group", models.CharField(blank=True, help_text="A or B in a cross-check, else empty.", max_length=8)),
                (
                    "languages",
                    models.JSONField(blank=True, default=list, help_text="BCP-47 tags; empty means every language."),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("active", "active"), ("paused", "paused"), ("left", "left")],
                        default="active",
                        max_length=10,
                    ),
                ),
                ("consented_at", models.DateTimeField(blank=True, null=True)),
                ("joined_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="annotate.project"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="itemset",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="item_sets", to="annotate.project"
            ),
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_digest", models.CharField(max_length=64, unique=True)),
                ("role", models.CharField(max_length=20)),
                ("group", models.CharField(blank=True, max_length=8)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("max_uses", models.PositiveIntegerField(default=1)),
                ("uses", models.PositiveIntegerField(default=0)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invites", to="annotate.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ImportedAnnotator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=220)),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotate.project",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="guidelineversion",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="guideline_versions", to="annotate.project"
            ),
        ),
        migrations.AddField(
            model_name="exclusion",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="exclusions", to="annotate.project"
            ),
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "actor",
                    models.CharField(
                        blank=True, help_text="A pseudonym, never a name; empty: the platform.", max_length=16
                    ),
                ),
                ("verb", models.CharField(max_length=60)),
                ("subject", models.CharField(max_length=40)),
                ("subject_id", models.BigIntegerField(null=True)),
                ("detail", models.JSONField(blank=True, default=dict)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "is_restored",
                    models.BooleanField(default=False, help_text="It came with an archive: nobody here saw it happen."),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="annotate.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content", models.JSONField()),
                ("content_hash", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="candidates",
                        to="annotate.itemrevision",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="candidates", to="annotate.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProlificSeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("opened_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "under way"),
                            ("done", "done"),
                            ("screened_out", "not qualified"),
                            ("no_work", "no work was left"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seats",
                        to="annotate.prolificstudy",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="SignInFailure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.CharField(max_length=45)),
                ("account", models.CharField(blank=True, max_length=150)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["address", "at"], name="failure_by_address"),
                    models.Index(fields=["account", "at"], name="failure_by_account"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Stage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("label", "label"),
                            ("answer", "answer"),
                            ("rewrite", "rewrite"),
                            ("author", "author"),
                            ("review", "review"),
                            ("adjudicate", "adjudicate"),
                            ("audit", "audit"),
                            ("judge", "judge"),
                        ],
                        max_length=20,
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("slug", models.SlugField(max_length=80)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[("draft", "draft"), ("open", "open"), ("paused", "paused"), ("closed", "closed")],
                        default="draft",
                        max_length=10,
                    ),
                ),
                ("overlap", models.PositiveIntegerField(default=3, help_text="How many people answer each item.")),
                ("roles", models.JSONField(default=list, help_text="Who may take it, such as ['annotator'].")),
                ("lease_minutes", models.PositiveIntegerField(default=30)),
                (
                    "order",
                    models.CharField(
                        choices=[
                            ("seeded", "each person starts at a seeded random place"),
                            ("sequential", "everybody starts at the first item"),
                        ],
                        default="seeded",
                        max_length=12,
                    ),
                ),
                ("seed", models.BigIntegerField(default=0)),
                ("is_closed_book", models.BooleanField(default=True)),
                ("time_limit_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("permitted_sources", models.CharField(blank=True, max_length=200)),
                (
                    "is_cross_group",
                    models.BooleanField(
                        default=False, help_text="Nobody gets an item that somebody of their own group wrote."
                    ),
                ),
                (
                    "escalate_by",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="How many more people are asked where there is no majority; 0: nobody."
                    ),
                ),
                (
                    "escalate_times",
                    models.PositiveSmallIntegerField(default=1, help_text="How often more people are asked at most."),
                ),
                (
                    "options",
                    models.JSONField(blank=True, default=dict, help_text="What only some kinds of stage have."),
                ),
                (
                    "shows_decided",
                    models.BooleanField(
                        default=True,
                        help_text="When it is closed, people see where their answers differ from what was decided.",
                    ),
                ),
                ("shows_gold", models.BooleanField(default=False, help_text="And the gold label beside them.")),
                (
                    "qualification_size",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="How many items are drawn for an attempt to qualify; 0: everybody may begin.",
                    ),
                ),
                (
                    "qualification_mark",
                    models.PositiveSmallIntegerField(default=0, help_text="How many of them must be right."),
                ),
                (
                    "check_every",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="One of so many items is a check, at a seeded place; 0: none is."
                    ),
                ),
                (
                    "tells_checks",
                    models.BooleanField(
                        default=False,
                        help_text="People hear how their checks went in blocks of ten, not only when all is closed.",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "adjudicated_in",
                    models.ForeignKey(
                        blank=True,
                        help_text="Where items go that have no majority in the end.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="adjudicates",
                        to="annotate.stage",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="stages", to="annotate.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="QualificationAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "under way"), ("passed", "passed"), ("failed", "not passed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("seed", models.BigIntegerField(default=0)),
                ("n_items", models.PositiveSmallIntegerField(default=0)),
                ("mark", models.PositiveSmallIntegerField(default=0)),
                ("n_right", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("set_aside_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="qualification_attempts",
                        to="annotate.stage",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="prolificstudy",
            name="stage",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="prolific", to="annotate.stage"
            ),
        ),
        migrations.CreateModel(
            name="Participation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "rank",
                    models.IntegerField(
                        default=-1,
                        help_text="The rank of the last work taken; the next claim looks after it, once round.",
                    ),
                ),
                (
                    "last_rank",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The rank taken last, a check's too: what hangs on its root comes next.",
                        null=True,
                    ),
                ),
                ("n_answered", models.PositiveIntegerField(default=0)),
                ("n_skipped", models.PositiveIntegerField(default=0)),
                ("active_seconds", models.PositiveIntegerField(default=0)),
                (
                    "checks_owed",
                    models.IntegerField(
                        db_default=0,
                        default=0,
                        help_text="Checks that came due, less those met and those there was none for.",
                    ),
                ),
                ("last_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "guidelines_known",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The newest ones when the person began, or when they were told of a change.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.guidelineversion",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="participations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="participations",
                        to="annotate.stage",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="guidelineversion",
            name="stage",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="guideline_versions",
                to="annotate.stage",
            ),
        ),
        migrations.CreateModel(
            name="Gold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("field", models.CharField(max_length=60)),
                (
                    "label_set",
                    models.CharField(blank=True, help_text="Coarse and fine gold stand side by side.", max_length=60),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("answers", models.JSONField(help_text="A list of acceptable values; most items have one.")),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("source", "source"),
                            ("author", "author"),
                            ("program", "program"),
                            ("expert", "expert"),
                            ("adjudicator", "adjudicator"),
                        ],
                        default="source",
                        max_length=20,
                    ),
                ),
                ("is_current", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="Who accepted what somebody else, or a vote, had said.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "made_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Whose word it is; who is left out of human accuracy on the item.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="golds",
                        to="annotate.item",
                    ),
                ),
                (
                    "votes_of",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="In which stage the votes came to it: its answers are not compared with it.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.stage",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Feed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "rule",
                    models.CharField(
                        choices=[
                            ("every", "every answer"),
                            ("complete", "items that have all their answers"),
                            ("decided", "items with a majority, or adjudicated"),
                        ],
                        default="every",
                        max_length=10,
                    ),
                ),
                (
                    "recipe",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="How a new item is made of an answer; empty: the item itself goes on.",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="feeds",
                        to="annotate.stage",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="fed_by", to="annotate.stage"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Audit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "field",
                    models.JSONField(help_text="The field whose labels are audited, as it was described at the draw."),
                ),
                (
                    "label_set",
                    models.CharField(blank=True, help_text="Of gold, where there are several.", max_length=60),
                ),
                ("drawn_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "item_set",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="audit", to="annotate.itemset"
                    ),
                ),
                (
                    "label_stage",
                    models.ForeignKey(
                        blank=True,
                        help_text="Whose decisions are audited; none: the gold labels are.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audits",
                        to="annotate.stage",
                    ),
                ),
                (
                    "stage",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="audit", to="annotate.stage"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="assignment",
            name="stage",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="assignments",
                to="annotate.stage",
            ),
        ),
        migrations.CreateModel(
            name="StageItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rank", models.PositiveIntegerField()),
                ("language", models.CharField(blank=True, max_length=35)),
                (
                    "author_group",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="In a cross-check: whom it is kept from.",
                        max_length=8,
                    ),
                ),
                ("wanted", models.PositiveIntegerField()),
                ("active", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("round", models.PositiveSmallIntegerField(default=1)),
                (
                    "purpose",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "work"),
                            ("check", "check, in no figure"),
                            ("counted_check", "check that figures count"),
                            ("qualification", "qualification"),
                        ],
                        db_default="",
                        default="",
                        max_length=15,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("withdrawn", "withdrawn"),
                            ("review", "waiting for review"),
                            ("left_out", "left out: the item is bad, or was dropped"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "due_at",
                    models.DateTimeField(blank=True, help_text="Its votes changed: count them again.", null=True),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "candidate",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="stage_items",
                        to="annotate.candidate",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="stage_items",
                        to="annotate.itemrevision",
                    ),
                ),
                (
                    "root",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="Items of one root are given out one after another; null: it stands by itself.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.item",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="followers",
                        to="annotate.stageitem",
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stage_items",
                        to="annotate.stage",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Resolution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("field", models.CharField(max_length=60)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("unanimous", "unanimous"),
                            ("majority", "majority"),
                            ("plurality", "plurality"),
                            ("tie", "tie"),
                            ("no_votes", "no votes"),
                            ("adjudicated", "adjudicated"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "answer",
                    models.JSONField(
                        blank=True, help_text="The value of the earliest vote that has the winning key.", null=True
                    ),
                ),
                ("answer_key", models.TextField(blank=True, null=True)),
                ("key_version", models.PositiveSmallIntegerField()),
                ("counts", models.JSONField(default=list, help_text="Pairs [answer key, votes], most votes first.")),
                ("n_votes", models.PositiveIntegerField(default=0)),
                (
                    "margin",
                    models.PositiveIntegerField(default=0, help_text="Votes of the first minus votes of the second."),
                ),
                ("round", models.PositiveSmallIntegerField(default=1)),
                ("computed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "adjudication",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The adjudicator's answer that decided.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.annotation",
                    ),
                ),
                (
                    "stage_item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="resolutions",
                        to="annotate.stageitem",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("client_key", models.CharField(max_length=64)),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("answered", "answered")], default="open", max_length=10
                    ),
                ),
                ("answer", models.TextField(blank=True)),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("is_pinned", models.BooleanField(default=False)),
                (
                    "pinned_text",
                    models.TextField(
                        blank=True, help_text="The question as everybody reads it; empty: as it was asked."
                    ),
                ),
                (
                    "pin_changed_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When what everybody reads of it last changed: pinned, reworded or taken down.",
                        null=True,
                    ),
                ),
                (
                    "answered_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="questions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="annotate.project",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.itemrevision",
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="annotate.stage",
                    ),
                ),
                (
                    "stage_item",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.stageitem",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="QualificationPlace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                (
                    "attempt",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="annotate.qualificationattempt",
                    ),
                ),
                (
                    "stage_item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.stageitem"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="assignment",
            name="stage_item",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="assignments",
                to="annotate.stageitem",
            ),
        ),
        migrations.CreateModel(
            name="StageVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(default=1)),
                ("fields", models.JSONField(help_text="Ordered list of field specifications; see annotate/answers.")),
                (
                    "shown_keys",
                    models.JSONField(help_text="Content keys an annotator sees, in order; the first is the headline."),
                ),
                ("instruction", models.CharField(blank=True, help_text="One line above the form.", max_length=400)),
                ("is_current", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "stage",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="annotate.stage",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="annotation",
            name="stage_version",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotate.stageversion",
            ),
        ),
        migrations.CreateModel(
            name="StoredFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("upload", "upload"),
                            ("export", "file of a report"),
                            ("chart", "chart"),
                            ("data", "data of the project"),
                        ],
                        max_length=10,
                    ),
                ),
                ("file", models.FileField(max_length=300, upload_to="")),
                ("name", models.CharField(help_text="As its owner knows it.", max_length=200)),
                ("media_type", models.CharField(max_length=100)),
                ("n_bytes", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "keep_until",
                    models.DateTimeField(blank=True, help_text="Then the scheduler has it removed.", null=True),
                ),
                (
                    "project",
                    models.ForeignKey(
                        help_text="Empty for an archive whose project does not exist yet.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="annotate.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Restoration",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("waiting", "waiting"),
                            ("running", "running"),
                            ("paused", "paused"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, default=django.utils.timezone.now, null=True)),
                ("claim_token", models.CharField(blank=True, max_length=32)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("n_done", models.PositiveIntegerField(default=0)),
                ("n_total", models.PositiveIntegerField(blank=True, null=True)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("name", models.CharField(help_text="Of the archive, as its owner knows it.", max_length=200)),
                (
                    "slug",
                    models.CharField(
                        blank=True, help_text="The new project's address; empty: the archived one.", max_length=80
                    ),
                ),
                (
                    "joins_people",
                    models.BooleanField(
                        default=False,
                        help_text="Pseudonyms that can sign in here mean the same people; else they are refused.",
                    ),
                ),
                ("report", models.JSONField(default=dict, help_text="What was restored, or what is wrong and where.")),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotate.project",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotate.storedfile",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("waiting", "waiting"),
                            ("running", "running"),
                            ("paused", "paused"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, default=django.utils.timezone.now, null=True)),
                ("claim_token", models.CharField(blank=True, max_length=32)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("n_done", models.PositiveIntegerField(default=0)),
                ("n_total", models.PositiveIntegerField(blank=True, null=True)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "options",
                    models.JSONField(default=dict, help_text="Format, encoding, delimiter: as detected or as changed."),
                ),
                ("mapping", models.JSONField(default=dict)),
                (
                    "report",
                    models.JSONField(default=dict, help_text="What was imported, unchanged, duplicated, in conflict."),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "item_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotate.itemset",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="import_jobs", to="annotate.project"
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotate.stage",
                    ),
                ),
                (
                    "joined",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.storedfile",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.storedfile"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("waiting", "waiting"),
                            ("running", "running"),
                            ("paused", "paused"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, default=django.utils.timezone.now, null=True)),
                ("claim_token", models.CharField(blank=True, max_length=32)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("n_done", models.PositiveIntegerField(default=0)),
                ("n_total", models.PositiveIntegerField(blank=True, null=True)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "kind",
                    models.CharField(
                        help_text="Of annotate/services/exporting/kinds.py, such as answers.", max_length=40
                    ),
                ),
                (
                    "format",
                    models.CharField(help_text="exact, spreadsheet, xlsx, jsonl; an archive is a zip.", max_length=12),
                ),
                (
                    "is_for_admins",
                    models.BooleanField(
                        help_text="It shows what readers of results do not see: whose answer is whose."
                    ),
                ),
                (
                    "report",
                    models.JSONField(default=dict, help_text="Rows, sheets, and what the format could not hold."),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="exports", to="annotate.project"
                    ),
                ),
                (
                    "file",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotate.storedfile",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="person",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_staff", False), ("username__isnull", False), _connector="OR"),
                name="person_staff_has_username",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ["taken", "edited"]), ("taken_from__isnull", False)),
                    models.Q(("kind__in", ["own", "bad"]), ("taken_from__isnull", True)),
                    _connector="OR",
                ),
                name="decision_says_from_what",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind", "taken"), models.Q(("reason", ""), _negated=True), _connector="OR"),
                name="decision_has_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("kind", "bad"), _negated=True), ("is_gold", False), _connector="OR"),
                name="decision_bad_is_no_gold",
            ),
        ),
        migrations.AddConstraint(
            model_name="flagsettlement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("reopened_at__isnull", True)),
                fields=("annotation",),
                name="flag_settlement_one_stands",
            ),
        ),
        migrations.AddConstraint(
            model_name="flagsettlement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("reopened_at__isnull", True), ("reopened_by__isnull", True)),
                    models.Q(("reopened_at__isnull", False), ("reopened_by__isnull", False)),
                    _connector="OR",
                ),
                name="flag_settlement_reopened_by",
            ),
        ),
        migrations.AddConstraint(
            model_name="freedplace",
            constraint=models.UniqueConstraint(fields=("exclusion", "assignment"), name="freed_place_once"),
        ),
        migrations.AddConstraint(
            model_name="goldrefusal",
            constraint=models.UniqueConstraint(fields=("item", "field", "answer_hash"), name="gold_refused_once"),
        ),
        migrations.AddConstraint(
            model_name="itemhand",
            constraint=models.UniqueConstraint(fields=("item", "person"), name="item_hand_once"),
        ),
        migrations.AddIndex(
            model_name="itemrevision",
            index=models.Index(fields=["content_hash"], name="revision_by_content"),
        ),
        migrations.AddConstraint(
            model_name="itemrevision",
            constraint=models.UniqueConstraint(fields=("item", "number"), name="revision_number_once"),
        ),
        migrations.AddConstraint(
            model_name="itemrevision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_current", True)), fields=("item",), name="revision_one_current"
            ),
        ),
        migrations.AddConstraint(
            model_name="itemsetentry",
            constraint=models.UniqueConstraint(fields=("item_set", "position"), name="entry_position_once"),
        ),
        migrations.AddConstraint(
            model_name="itemsetentry",
            constraint=models.UniqueConstraint(fields=("item_set", "revision"), name="entry_revision_once"),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("person", "project"), name="membership_once"),
        ),
        migrations.AddConstraint(
            model_name="itemset",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="item_set_name_once"),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["project", "id"], name="item_by_project"),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(fields=("project", "external_id"), name="item_external_id_once"),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(
                condition=models.Q(("source__isnull", False)),
                fields=("source", "source_position"),
                name="item_once_of_source",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(("external_id", ""), _negated=True), name="item_external_id_given"
            ),
        ),
        migrations.AddConstraint(
            model_name="invite",
            constraint=models.CheckConstraint(
                condition=models.Q(("uses__lte", models.F("max_uses"))), name="invite_uses_within_limit"
            ),
        ),
        migrations.AddConstraint(
            model_name="importedannotator",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="imported_annotator_once"),
        ),
        migrations.AddConstraint(
            model_name="exclusion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("annotation__isnull", True), ("item__isnull", True), ("person__isnull", False)),
                    models.Q(("annotation__isnull", False), ("item__isnull", True), ("person__isnull", True)),
                    models.Q(("annotation__isnull", True), ("item__isnull", False), ("person__isnull", True)),
                    _connector="OR",
                ),
                name="exclusion_one_scope",
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["project", "at"], name="event_by_project"),
        ),
        migrations.AddConstraint(
            model_name="candidate",
            constraint=models.UniqueConstraint(fields=("revision", "content_hash"), name="candidate_once"),
        ),
        migrations.AddConstraint(
            model_name="prolificseat",
            constraint=models.UniqueConstraint(fields=("study", "person"), name="prolific_seat_once"),
        ),
        migrations.AddConstraint(
            model_name="prolificseat",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("outcome", "")),
                    models.Q(models.Q(("outcome", ""), _negated=True), ("ended_at__isnull", False)),
                    _connector="OR",
                ),
                name="prolific_seat_ends_with_an_outcome",
            ),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.UniqueConstraint(fields=("project", "slug"), name="stage_slug_once"),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.CheckConstraint(condition=models.Q(("overlap__gte", 1)), name="stage_overlap_positive"),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.CheckConstraint(
                condition=models.Q(("lease_minutes__gte", 1)), name="stage_lease_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.CheckConstraint(
                condition=models.Q(("qualification_mark__lte", models.F("qualification_size"))),
                name="stage_mark_within_qualification",
            ),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.CheckConstraint(
                condition=models.Q(("check_every", 1), _negated=True), name="stage_not_checks_alone"
            ),
        ),
        migrations.AddConstraint(
            model_name="stage",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("adjudicated_in__isnull", True),
                    models.Q(("adjudicated_in", models.F("id")), _negated=True),
                    _connector="OR",
                ),
                name="stage_not_its_own_judge",
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationattempt",
            constraint=models.UniqueConstraint(fields=("stage", "person", "number"), name="qualification_attempt_once"),
        ),
        migrations.AddConstraint(
            model_name="qualificationattempt",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")), fields=("stage", "person"), name="qualification_attempt_one_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationattempt",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_right__isnull", True), ("n_right__lte", models.F("n_items")), _connector="OR"),
                name="qualification_right_of_items",
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationattempt",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state", "open")),
                    models.Q(models.Q(("state", "open"), _negated=True), ("ended_at__isnull", False)),
                    _connector="OR",
                ),
                name="qualification_ended_has_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="prolificstudy",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_answers__gte", 1)), name="prolific_asks_for_answers"
            ),
        ),
        migrations.AddConstraint(
            model_name="participation",
            constraint=models.UniqueConstraint(fields=("stage", "person"), name="participation_once"),
        ),
        migrations.AddConstraint(
            model_name="guidelineversion",
            constraint=models.UniqueConstraint(fields=("stage", "number"), name="guideline_number_once_a_stage"),
        ),
        migrations.AddConstraint(
            model_name="guidelineversion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("stage", None)),
                fields=("project", "number"),
                name="guideline_number_once_a_project",
            ),
        ),
        migrations.AddConstraint(
            model_name="gold",
            constraint=models.UniqueConstraint(
                fields=("item", "field", "label_set", "version"), name="gold_version_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="gold",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_current", True)), fields=("item", "field", "label_set"), name="gold_one_current"
            ),
        ),
        migrations.AddConstraint(
            model_name="feed",
            constraint=models.UniqueConstraint(fields=("source", "target"), name="feed_once"),
        ),
        migrations.AddConstraint(
            model_name="feed",
            constraint=models.CheckConstraint(
                condition=models.Q(("source", models.F("target")), _negated=True), name="feed_leads_elsewhere"
            ),
        ),
        migrations.AddIndex(
            model_name="stageitem",
            index=models.Index(
                condition=models.Q(
                    ("state", "open"),
                    ("purpose", ""),
                    (
                        "active__lt",
                        django.db.models.expressions.CombinedExpression(models.F("wanted"), "-", models.F("done")),
                    ),
                ),
                fields=["stage", "rank"],
                name="stage_item_claimable",
            ),
        ),
        migrations.AddIndex(
            model_name="stageitem",
            index=models.Index(
                condition=models.Q(("purpose", ""), _negated=True), fields=["stage", "purpose"], name="stage_item_apart"
            ),
        ),
        migrations.AddIndex(
            model_name="stageitem",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="stage_item_due"),
        ),
        migrations.AddIndex(
            model_name="stageitem",
            index=models.Index(
                condition=models.Q(("author__isnull", False)), fields=["author"], name="stage_item_authored"
            ),
        ),
        migrations.AddIndex(
            model_name="stageitem",
            index=models.Index(
                condition=models.Q(("root__isnull", False)), fields=["stage", "root", "rank"], name="stage_item_of_root"
            ),
        ),
        migrations.AddConstraint(
            model_name="stageitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("candidate__isnull", True), ("source__isnull", True)),
                fields=("stage", "revision"),
                name="stage_item_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="stageitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("candidate__isnull", True), ("source__isnull", False)),
                fields=("source", "stage"),
                name="stage_item_once_of_source",
            ),
        ),
        migrations.AddConstraint(
            model_name="stageitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("candidate__isnull", False)),
                fields=("candidate", "stage"),
                name="stage_item_once_of_candidate",
            ),
        ),
        migrations.AddConstraint(
            model_name="stageitem",
            constraint=models.UniqueConstraint(fields=("stage", "rank"), name="stage_item_rank_once"),
        ),
        migrations.AddConstraint(
            model_name="stageitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "active__lte",
                        django.db.models.expressions.CombinedExpression(models.F("wanted"), "-", models.F("done")),
                    )
                ),
                name="stage_item_within_wanted",
            ),
        ),
        migrations.AddConstraint(
            model_name="resolution",
            constraint=models.UniqueConstraint(fields=("stage_item", "field"), name="resolution_once"),
        ),
        migrations.AddIndex(
            model_name="question",
            index=models.Index(fields=["project", "-state", "-id"], name="question_by_state"),
        ),
        migrations.AddIndex(
            model_name="question",
            index=models.Index(
                condition=models.Q(("read_at__isnull", True), ("state", "answered")),
                fields=["person", "project"],
                name="question_unread",
            ),
        ),
        migrations.AddIndex(
            model_name="question",
            index=models.Index(
                condition=models.Q(("pin_changed_at__isnull", False)),
                fields=["project", "stage"],
                name="question_pinned",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.UniqueConstraint(
                fields=("person", "project", "client_key"), name="question_client_key_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="question_asks_something"
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answer", ""), ("answered_at__isnull", True), ("is_pinned", False), ("state", "open")),
                    models.Q(
                        ("answered_at__isnull", False), ("state", "answered"), models.Q(("answer", ""), _negated=True)
                    ),
                    _connector="OR",
                ),
                name="question_answered_with_words",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("stage_item__isnull", True),
                    models.Q(("revision__isnull", False), ("stage__isnull", False)),
                    _connector="OR",
                ),
                name="question_item_in_stage",
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationplace",
            constraint=models.UniqueConstraint(fields=("attempt", "position"), name="qualification_position_once"),
        ),
        migrations.AddConstraint(
            model_name="qualificationplace",
            constraint=models.UniqueConstraint(fields=("attempt", "stage_item"), name="qualification_item_once"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(fields=["stage", "person", "state"], name="assignment_mine"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("state", "leased")), fields=["stage", "person"], name="assignment_live_leases"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(fields=("token",), name="assignment_token_once"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(fields=("stage_item", "person"), name="assignment_once"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("slot__isnull", False)), fields=("stage_item", "slot"), name="assignment_slot_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("slot__isnull", True), ("state__in", ["leased", "submitted"]), _connector="OR"),
                name="assignment_slot_held",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "leased"), _negated=True), ("slot__isnull", False), _connector="OR"
                ),
                name="assignment_lease_holds_slot",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "skipped"), _negated=True),
                    models.Q(("skip_reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="assignment_skip_has_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="stageversion",
            constraint=models.UniqueConstraint(fields=("stage", "number"), name="stage_version_number_once"),
        ),
        migrations.AddConstraint(
            model_name="stageversion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_current", True)), fields=("stage",), name="stage_version_one_current"
            ),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.UniqueConstraint(fields=("assignment", "number"), name="annotation_number_once"),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.UniqueConstraint(fields=("assignment", "client_key"), name="annotation_client_key_once"),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_current", True)), fields=("assignment",), name="annotation_one_current"
            ),
        ),
        migrations.AddIndex(
            model_name="storedfile",
            index=models.Index(
                condition=models.Q(("keep_until__isnull", False)), fields=["keep_until"], name="stored_file_outdated"
            ),
        ),
    ]
