import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotate.first_tables import FirstTables


class Migration(FirstTables):
    initial = True

    dependencies = [
        ("annotate", "0003_free_slots"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120)),
                (
                    "provider",
                    models.CharField(
                        choices=[
                            ("openai", "OpenAI-compatible server"),
                            ("baseline", "baseline without a model"),
                            ("log", "imported log"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "protocol",
                    models.CharField(
                        choices=[("chat", "chats: /chat/completions"), ("text", "plain text: /completions")],
                        default="chat",
                        help_text="How a server is asked.",
                        max_length=4,
                    ),
                ),
                (
                    "model",
                    models.CharField(help_text="As the server calls it; for a baseline, its name.", max_length=200),
                ),
                ("base_url", models.URLField(blank=True, max_length=300)),
                (
                    "key_variable",
                    models.CharField(
                        blank=True,
                        max_length=80,
                        validators=[django.core.validators.RegexValidator("^GOLDPANEL_KEY_[A-Z0-9_]+$")],
                    ),
                ),
                ("max_in_flight", models.PositiveIntegerField(default=8)),
                ("requests_per_minute", models.PositiveIntegerField(blank=True, null=True)),
                ("tokens_per_minute", models.PositiveIntegerField(blank=True, null=True)),
                ("timeout_seconds", models.PositiveIntegerField(default=60)),
                (
                    "input_price",
                    models.DecimalField(
                        blank=True, decimal_places=6, help_text="Of a million tokens in.", max_digits=12, null=True
                    ),
                ),
                (
                    "output_price",
                    models.DecimalField(
                        blank=True, decimal_places=6, help_text="Of a million tokens out.", max_digits=12, null=True
                    ),
                ),
                ("currency", models.CharField(blank=True, max_length=12)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "next_request_at",
                    models.DateTimeField(blank=True, help_text="The next free place in the minute.", null=True),
                ),
                (
                    "held_until",
                    models.DateTimeField(blank=True, help_text="The server asked everybody to wait.", null=True),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="endpoints", to="annotate.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="EndpointShare",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("holder", models.CharField(max_length=32, unique=True)),
                ("places", models.PositiveIntegerField(default=0)),
                ("wanted", models.PositiveIntegerField(default=0, help_text="How many it could use.")),
                ("expires_at", models.DateTimeField()),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="shares", to="evaluation.endpoint"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="JudgeSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "mode",
                    models.CharField(
                        choices=[("verdict", "right or wrong"), ("better", "the better of two")], max_length=10
                    ),
                ),
                (
                    "rule",
                    models.CharField(
                        choices=[
                            ("same_items", "the same items of every run"),
                            ("per_run", "items of each run on its own"),
                        ],
                        default="same_items",
                        max_length=10,
                    ),
                ),
                (
                    "stratum",
                    models.CharField(
                        blank=True,
                        help_text="Its values are drawn in proportion; empty: it is a simple random draw.",
                        max_length=100,
                    ),
                ),
                (
                    "shows",
                    models.CharField(
                        choices=[("answer", "the answer as it was read"), ("completion", "the completion as it came")],
                        default="answer",
                        max_length=10,
                    ),
                ),
                (
                    "unanswered",
                    models.CharField(
                        choices=[("left_out", "counted, not judged"), ("as_said", "judged by what was said")],
                        default="left_out",
                        help_text="What becomes of outcomes other than answered.",
                        max_length=10,
                    ),
                ),
                (
                    "field",
                    models.JSONField(help_text="The field whose answers are judged, as it was described at the draw."),
                ),
                (
                    "n_per_run",
                    models.PositiveIntegerField(help_text="Answers asked for of each run, or of each pair of runs."),
                ),
                ("seed", models.BigIntegerField()),
                (
                    "counts",
                    models.JSONField(
                        default=list, help_text="For each run, or pair: how many there were, and were drawn."
                    ),
                ),
                ("drawn_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "stage",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="judge_sample", to="annotate.stage"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Prediction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(help_text="Place of the item in the run's item set.")),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("answered", "answered"),
                            ("unparsed", "unparsed"),
                            ("refused", "refused"),
                            ("empty", "empty"),
                            ("cut_off", "cut off"),
                            ("tied", "tied vote"),
                            ("timed_out", "timed out"),
                            ("error", "error"),
                            ("worker_lost", "worker lost"),
                            ("cancelled", "cancelled"),
                        ],
                        default="pending",
                        max_length=12,
                    ),
                ),
                (
                    "answer",
                    models.JSONField(blank=True, help_text="Field name -> value, as an annotation's.", null=True),
                ),
                (
                    "note",
                    models.CharField(
                        blank=True, help_text="Why there is no answer, or what the parser did.", max_length=500
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("claim_token", models.CharField(blank=True, max_length=32)),
                ("claimed_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="predictions",
                        to="annotate.itemrevision",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CandidateOrigin",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "candidate",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.candidate",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="origins",
                        to="evaluation.judgesample",
                    ),
                ),
                (
                    "other",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.prediction",
                    ),
                ),
                (
                    "prediction",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evaluation.prediction"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Call",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "step",
                    models.PositiveSmallIntegerField(default=0, help_text="Of the calls of a prediction, from 0 on."),
                ),
                ("messages", models.JSONField()),
                ("completion", models.TextField(blank=True)),
                ("reasoning", models.TextField(blank=True)),
                ("finish_reason", models.CharField(blank=True, max_length=40)),
                ("server_model", models.CharField(blank=True, max_length=200)),
                ("prompt_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("completion_tokens", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "logprobs",
                    models.JSONField(
                        blank=True,
                        help_text="[token, log probability, [[alternative, log probability], ...]] of each token.",
                        null=True,
                    ),
                ),
                (
                    "reading",
                    models.JSONField(
                        blank=True,
                        help_text="Where each completion of a prediction is read by itself: what it came to (state, note, answer).",
                        null=True,
                    ),
                ),
                ("latency_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("http_status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("error_kind", models.CharField(blank=True, max_length=40)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("attempts", models.PositiveSmallIntegerField(default=1)),
                ("finished_at", models.DateTimeField()),
                (
                    "request_hash",
                    models.CharField(blank=True, help_text="Of what was sent, at temperature 0.", max_length=64),
                ),
                (
                    "reused_from",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The call whose completion this is: nothing was sent.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evaluation.call",
                    ),
                ),
                (
                    "prediction",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="evaluation.prediction",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Run",
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
                ("name", models.CharField(max_length=120)),
                ("strategy", models.CharField(max_length=40)),
                (
                    "strategy_hash",
                    models.CharField(blank=True, help_text="Of the prompt templates, when it started.", max_length=64),
                ),
                ("parameters", models.JSONField(default=dict, help_text="temperature, max_tokens ... as sent.")),
                (
                    "n_steps",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Samples for a vote, or rounds at most; null: the strategy says how many calls.",
                        null=True,
                    ),
                ),
                ("seed", models.BigIntegerField(default=0)),
                ("repeats", models.PositiveSmallIntegerField(default=1)),
                (
                    "reuses_answers",
                    models.BooleanField(default=False, help_text="Of earlier runs, for the same request."),
                ),
                ("budget_money", models.DecimalField(blank=True, decimal_places=6, max_digits=14, null=True)),
                ("budget_tokens", models.PositiveBigIntegerField(blank=True, null=True)),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "n_counted",
                    models.PositiveIntegerField(default=0, help_text="Completions whose tokens were counted."),
                ),
                ("n_uncounted", models.PositiveIntegerField(default=0, help_text="Completions without a count.")),
                ("frozen_at", models.DateTimeField(blank=True, null=True)),
                (
                    "stopped_because",
                    models.CharField(
                        blank=True, help_text="What will not heal, such as 401, or a spent budget.", max_length=500
                    ),
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
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="evaluation.endpoint"
                    ),
                ),
                (
                    "exemplar_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.itemset",
                    ),
                ),
                (
                    "item_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="annotate.itemset"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="annotate.project"
                    ),
                ),
                (
                    "stage_version",
                    models.ForeignKey(
                        help_text="The form people answer: its decisive field and shown content are what the model gets.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.stageversion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Report",
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
                ("title", models.CharField(max_length=120)),
                ("field", models.CharField(help_text="The decisive field that is compared.", max_length=60)),
                ("primary_scorer", models.CharField(max_length=40)),
                (
                    "further_scorers",
                    models.JSONField(blank=True, default=list, help_text="Beside the main one and the defaults."),
                ),
                (
                    "every_run_is_primary",
                    models.BooleanField(
                        default=False, help_text="The family named before results: the mean person against each run."
                    ),
                ),
                (
                    "n_scored",
                    models.PositiveIntegerField(
                        default=0, help_text="Pairs of answer and gold, while it is being made."
                    ),
                ),
                ("n_to_score", models.PositiveIntegerField(default=0)),
                ("seed", models.BigIntegerField(default=0)),
                ("n_resamples", models.PositiveIntegerField(default=2000)),
                ("level", models.FloatField(default=0.95)),
                ("frozen_at", models.DateTimeField(blank=True, null=True)),
                ("manifest", models.JSONField(default=dict, help_text="Versions, inputs, exclusions, hashes.")),
                (
                    "matrices",
                    models.JSONField(default=dict, help_text="The arrays behind every figure, in a fixed item order."),
                ),
                (
                    "figures",
                    models.JSONField(
                        default=list, help_text="One object a figure: value, n, interval, what was left out."
                    ),
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
                ("files", models.ManyToManyField(blank=True, related_name="+", to="annotate.storedfile")),
                (
                    "item_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="reports", to="annotate.itemset"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="annotate.project"
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="reports", to="annotate.stage"
                    ),
                ),
                (
                    "primary_run",
                    models.ForeignKey(
                        blank=True,
                        help_text="The comparison named before results are shown.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.run",
                    ),
                ),
                ("runs", models.ManyToManyField(blank=True, related_name="reports", to="evaluation.run")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="prediction",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="predictions",
                to="evaluation.run",
            ),
        ),
        migrations.CreateModel(
            name="LogImport",
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
                    models.JSONField(default=dict, help_text="Format, model, names and how items are recognised."),
                ),
                (
                    "report",
                    models.JSONField(
                        default=dict, help_text="What was matched, unmatched, repeated, changed, in error."
                    ),
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.itemset"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="log_imports", to="annotate.project"
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.storedfile"
                    ),
                ),
                (
                    "stage_version",
                    models.ForeignKey(
                        help_text="The form whose first deciding field the answers belong to.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.stageversion",
                    ),
                ),
                ("runs", models.ManyToManyField(blank=True, related_name="log_imports", to="evaluation.run")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="judgesample",
            name="runs",
            field=models.ManyToManyField(related_name="judge_samples", to="evaluation.run"),
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("field", models.CharField(max_length=60)),
                ("scorer", models.CharField(max_length=40)),
                ("scorer_version", models.PositiveSmallIntegerField()),
                (
                    "value",
                    models.FloatField(
                        blank=True, help_text="In [0, 1]; null: unscorable, with the reason in note.", null=True
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "annotation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="annotate.annotation",
                    ),
                ),
                (
                    "gold",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.gold"
                    ),
                ),
                (
                    "prediction",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="evaluation.prediction",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Trial",
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
                ("results", models.JSONField(default=list)),
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
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="evaluation.run"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="endpoint_name_once"),
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("provider__in", ["baseline", "log"]), models.Q(("base_url", ""), _negated=True), _connector="OR"
                ),
                name="endpoint_server_has_url",
            ),
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("max_in_flight__gte", 1)), name="endpoint_in_flight_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("input_price__isnull", True), ("output_price__isnull", True)),
                    models.Q(("input_price__gte", 0), ("output_price__gte", 0)),
                    _connector="OR",
                ),
                name="endpoint_prices_together",
            ),
        ),
        migrations.AddConstraint(
            model_name="candidateorigin",
            constraint=models.UniqueConstraint(
                condition=models.Q(("other__isnull", True)),
                fields=("sample", "prediction"),
                name="origin_of_answer_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="candidateorigin",
            constraint=models.UniqueConstraint(
                condition=models.Q(("other__isnull", False)),
                fields=("sample", "prediction", "other"),
                name="origin_of_pair_once",
            ),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(
                condition=models.Q(("request_hash", ""), _negated=True), fields=["request_hash"], name="call_by_request"
            ),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(
                condition=models.Q(("reused_from__isnull", False)), fields=["reused_from"], name="call_reused"
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.UniqueConstraint(fields=("prediction", "step"), name="call_step_once"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="run_due"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="run_name_once"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(condition=models.Q(("repeats__gte", 1)), name="run_repeats_positive"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("state", "draft"), ("frozen_at__isnull", False), _connector="OR"),
                name="run_started_is_frozen",
            ),
        ),
        migrations.AddIndex(
            model_name="prediction",
            index=models.Index(
                condition=models.Q(("state", "pending")), fields=["run", "due_at"], name="prediction_pending"
            ),
        ),
        migrations.AddIndex(
            model_name="prediction",
            index=models.Index(fields=["run", "state"], name="prediction_by_outcome"),
        ),
        migrations.AddConstraint(
            model_name="prediction",
            constraint=models.UniqueConstraint(fields=("run", "revision", "repeat"), name="prediction_once"),
        ),
        migrations.AddConstraint(
            model_name="prediction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answer__isnull", False), ("state", "answered")),
                    models.Q(models.Q(("state", "answered"), _negated=True), ("answer__isnull", True)),
                    _connector="OR",
                ),
                name="prediction_answer_iff_answered",
            ),
        ),
        migrations.AddConstraint(
            model_name="score",
            constraint=models.CheckConstraint(
                condition=models.Q(("annotation__isnull", False), ("prediction__isnull", False), _connector="XOR"),
                name="score_of_one_answer",
            ),
        ),
        migrations.AddConstraint(
            model_name="score",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("value__isnull", True), models.Q(("value__gte", 0), ("value__lte", 1)), _connector="OR"
                ),
                name="score_in_unit_interval",
            ),
        ),
        migrations.AddConstraint(
            model_name="score",
            constraint=models.UniqueConstraint(
                condition=models.Q(("annotation__isnull", False)),
                fields=("annotation", "field", "scorer", "scorer_version", "gold"),
                name="score_of_annotation_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="score",
            constraint=models.UniqueConstraint(
                condition=models.Q(("prediction__isnull", False)),
                fields=("prediction", "field", "scorer", "scorer_version", "gold"),
                name="score_of_prediction_once",
            ),
        ),
    ]
