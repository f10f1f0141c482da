from django.contrib import admin

from crawler.accounts.admin import ReadOnlyAdmin
from crawler.processes.models import PeriodicTask, Process


@admin.register(Process)
class ProcessAdmin(ReadOnlyAdmin):
    list_display = ("kind", "host", "pid", "version", "started_at", "last_seen_at")
    list_filter = ("kind", "host")


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(ReadOnlyAdmin):
    list_display = ("name", "next_run_at", "last_finished_at", "last_outcome", "failures_in_a_row")
