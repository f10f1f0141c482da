from __future__ import annotations

from django.conf import settings
from django.db import models

from crawler.foundation.ids import new_id


class ApiToken(models.Model):
    """A secret for programs. Only its prefix and a hash are kept, so it can be shown once and never again."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, help_text="What uses it, e.g. “nightly export”.")
    prefix = models.CharField(max_length=20, unique=True, editable=False)
    secret_hash = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: works until it is revoked.")
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "API token"
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"
