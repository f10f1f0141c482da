"""Django's settings for `crawler crawl`: the same database and models, without pages, admin and API.

A one-shot crawl is up in half the time. The database it makes lacks only the tables of what is left out; `crawler up`
and `crawler migrate` add them.
"""

from crawler.foundation import logs
from crawler.foundation.config import load
from crawler.project.databases import django_database

CRAWLSPACE = load()

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "crawler.accounts",
    "crawler.processes",
    "crawler.domains",
    "crawler.crawls",
]
AUTH_USER_MODEL = "accounts.User"

DATABASES = {"default": django_database(CRAWLSPACE)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The terminal is for progress and results; log lines go to a file, which is made with the first of them.
LOG_FILE = CRAWLSPACE.home / "logs" / "crawl.log"
LOGGING = logs.configuration(CRAWLSPACE.log_level)
LOGGING["handlers"]["stderr"] = {
    "class": "logging.FileHandler",
    "formatter": "json",
    "filename": str(LOG_FILE),
    "delay": True,
}

TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
