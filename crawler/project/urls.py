"""Every address of the platform."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from crawler.project import failures, health
from crawler.project.api import api
from crawler.project.bots_api import bots_api

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("api/v1/", api.urls),
    path("api/crawl/", bots_api.urls),
    path(settings.CRAWLSPACE.admin_path.lstrip("/"), admin.site.urls),
    path("", include("crawler.dashboard.urls")),
]

handler400 = failures.bad_request
handler403 = failures.forbidden
handler404 = failures.not_found
handler500 = failures.server_error
