from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from crawler import __version__
from crawler.accounts.models import ApiToken, AuditEntry, User
from crawler.accounts.roles import Role
from crawler.processes import registry
from crawler.processes.models import PeriodicTask


@login_required
def overview(request: HttpRequest) -> HttpResponse:
    config = settings.CRAWLSPACE
    is_admin = request.user.has_perm("accounts.view_auditentry")
    facts = {
        "processes": registry.listed(),
        "tasks": PeriodicTask.objects.all(),
        "entries": AuditEntry.objects.all()[:8] if is_admin else [],
        "is_admin": is_admin,
        "users": User.objects.filter(is_active=True).count(),
        "admins": User.objects.filter(is_active=True, role=Role.ADMIN).count(),
        "tokens": ApiToken.objects.filter(revoked_at=None).count(),
        "config": config,
        "version": __version__,
    }
    return render(request, "dashboard.html", facts)
