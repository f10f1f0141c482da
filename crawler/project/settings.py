"""Django's settings, derived from the platform's own (crawler.foundation.config)."""

from crawler.foundation import logs
from crawler.foundation.config import ensure_secret_key, load
from crawler.project.databases import django_database
from crawler.project.proxies import origin_of

CRAWLSPACE = load()

SECRET_KEY = ensure_secret_key(CRAWLSPACE)
DEBUG = False
ALLOWED_HOSTS = list(CRAWLSPACE.allowed_hosts)
ROOT_URLCONF = "crawler.project.urls"
WSGI_APPLICATION = "crawler.project.wsgi.application"

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "ninja",
    "crawler.accounts",
    "crawler.processes",
    "crawler.domains",
    "crawler.crawls",
    "crawler.bots",
    "crawler.dashboard",
]

MIDDLEWARE = [
    "crawler.project.proxies.BehindProxies",
    "crawler.project.middleware.RequestContext",
    "crawler.project.security_headers.SecurityHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "crawler.project.middleware.NoNulls",
    "crawler.project.middleware.ApiEnvelope",
    "crawler.accounts.middleware.ApiGate",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "crawler.project.middleware.PagesCsrf",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "crawler.accounts.middleware.LoginGate",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": django_database(CRAWLSPACE)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGGING = logs.configuration(CRAWLSPACE.log_level)

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["crawler.accounts.logins.PasswordLogin"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/dashboard/"
LOGOUT_REDIRECT_URL = "/login/"

# Cookies are only sent over TLS where people reach us over TLS. A browser takes a __Host- cookie from this host alone.
BEHIND_TLS = CRAWLSPACE.public_url.startswith("https://")
COOKIE_PREFIX = "__Host-" if BEHIND_TLS else ""
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}crawlspace_session"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}crawlspace_csrf"
DEVICE_COOKIE_NAME = f"{COOKIE_PREFIX}crawlspace_device"
# A working day, counted from the login.
SESSION_COOKIE_AGE = 12 * 3600
CSRF_FAILURE_VIEW = "crawler.project.failures.csrf_failure"
CSRF_TRUSTED_ORIGINS = [origin_of(CRAWLSPACE.public_url)] if BEHIND_TLS else []
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = "crawler.project.formats"

STATIC_URL = "/static/"
# Served straight from the packages: nothing to collect, nothing to forget.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

NINJA_PAGINATION_MAX_LIMIT = 1000

UNFOLD = {
    "SITE_TITLE": "Crawlspace admin",
    "SITE_HEADER": "Crawlspace",
    "SITE_URL": "/dashboard/",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "STYLES": ["crawler.project.sidebar.stylesheet"],
    "SIDEBAR": {"show_all_applications": True, "navigation": "crawler.project.sidebar.navigation"},
    "COLORS": {
        "primary": {
            "50": "236 253 245", "100": "209 250 229", "200": "167 243 208", "300": "110 231 183",
            "400": "52 211 153", "500": "16 150 110", "600": "5 120 90", "700": "4 100 75",
            "800": "6 78 59", "900": "6 64 50", "950": "2 44 34",
        },
    },
}  # fmt: skip
