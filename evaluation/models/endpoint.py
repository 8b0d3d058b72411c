"""Where a model answers, how much may be asked of it, and what that costs. A key is named here, never stored.

The model of an imported log is an endpoint, too, so that its runs are read and reported like all others; nothing can
be asked there.
"""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.wording import _
from evaluation.querysets import EndpointQuerySet

KEY_VARIABLE = r"^GOLDPANEL_KEY_[A-Z0-9_]+$"


class Endpoint(models.Model):
    class Provider(models.TextChoices):
        OPENAI = "openai", _("OpenAI-compatible server")
        BASELINE = "baseline", _("baseline without a model")
        LOG = "log", _("imported log")

    class Protocol(models.TextChoices):
        CHAT = "chat", _("chats: /chat/completions")
        TEXT = "text", _("plain text: /completions")

    project = models.ForeignKey("annotate.Project", on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=120)
    provider = models.CharField(max_length=10, choices=Provider.choices)
    protocol = models.CharField(
        max_length=4, choices=Protocol.choices, default=Protocol.CHAT, help_text="How a server is asked."
    )
    model = models.CharField(max_length=200, help_text="As the server calls it; for a baseline, its name.")
    base_url = models.URLField(max_length=300, blank=True)
    key_variable = models.CharField(max_length=80, blank=True, validators=[RegexValidator(KEY_VARIABLE)])
    max_in_flight = models.PositiveIntegerField(default=8)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    timeout_seconds = models.PositiveIntegerField(default=60)
    input_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="Of a million tokens in."
    )
    output_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="Of a million tokens out."
    )
    currency = models.CharField(max_length=12, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # Written by whoever asks, see evaluation/services/pacing.py.
    next_request_at = models.DateTimeField(null=True, blank=True, help_text="The next free place in the minute.")
    held_until = models.DateTimeField(null=True, blank=True, help_text="The server asked everybody to wait.")

    objects = EndpointQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="endpoint_name_once"),
            models.CheckConstraint(
                condition=Q(provider__in=["baseline", "log"]) | ~Q(base_url=""), name="endpoint_server_has_url"
            ),
            models.CheckConstraint(condition=Q(max_in_flight__gte=1), name="endpoint_in_flight_positive"),
            models.CheckConstraint(
                condition=Q(input_price__isnull=True, output_price__isnull=True)
                | Q(input_price__gte=0, output_price__gte=0),
                name="endpoint_prices_together",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class EndpointShare(models.Model):
    """The places in flight that one worker may use at the moment; gone soon after the worker is."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="shares")
    holder = models.CharField(max_length=32, unique=True)
    places = models.PositiveIntegerField(default=0)
    wanted = models.PositiveIntegerField(default=0, help_text="How many it could use.")
    expires_at = models.DateTimeField()

    objects = models.Manager()

    def __str__(self) -> str:
        return f"{self.places} of endpoint {self.endpoint_id}"
