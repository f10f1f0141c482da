from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models

from crawler.foundation.ids import new_id


class AuditEntry(models.Model):
    """Who did what to what, and why. Rows are only ever added: triggers in the database see to it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor_kind = models.CharField(max_length=10)
    actor = models.CharField(max_length=200)
    # No database constraint: the entry outlives its user, unchanged.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=60)
    target_id = models.CharField(max_length=255)
    # How a person knew the target at that time; it may be renamed or gone by now.
    target_label = models.CharField(max_length=200, blank=True)
    reason = models.TextField(blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    request_id = models.CharField(max_length=80, blank=True)

    class Meta:
        verbose_name = "audit entry"
        verbose_name_plural = "audit log"
        ordering = ("-id",)
        indexes = (models.Index(fields=("target_type", "target_id", "-id"), name="accounts_audit_target"),)

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.target_type} {self.target_label}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            self._refuse()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError("the audit log only grows: entries are neither changed nor deleted")
