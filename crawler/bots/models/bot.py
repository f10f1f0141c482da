from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

MOST_JOBS_PER_PULL = 100
BOT_ID_FORM = RegexValidator(r"\A[A-Za-z0-9][A-Za-z0-9._:@-]*\Z", "Use letters, digits and . _ : @ - only.")


class BotConfig(models.Model):
    """A program that pulls jobs. Its token is shown once; only a hash of it is kept."""

    bot_id = models.CharField("bot id", max_length=100, unique=True, validators=[BOT_ID_FORM])
    description = models.CharField(max_length=200, blank=True, default="", db_default="")
    token_hash = models.CharField(max_length=64, unique=True, null=True, editable=False)
    token_made_at = models.DateTimeField(null=True, editable=False)
    enabled = models.BooleanField(default=True, db_default=True, help_text="Switched off: it is answered 403.")
    max_jobs_per_pull = models.PositiveSmallIntegerField(
        default=MOST_JOBS_PER_PULL,
        db_default=MOST_JOBS_PER_PULL,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_JOBS_PER_PULL)],
    )
    last_seen_at = models.DateTimeField(null=True, editable=False)  # within a minute of the truth
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        db_table = "bot_configs"
        verbose_name = "bot configuration"
        ordering = ("bot_id",)
        constraints = [
            models.CheckConstraint(
                name="bot_configs_max_jobs",
                condition=Q(max_jobs_per_pull__gte=1, max_jobs_per_pull__lte=MOST_JOBS_PER_PULL),
            ),
        ]

    def __str__(self) -> str:
        return self.bot_id
