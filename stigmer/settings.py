"""Every setting, read from the environment; what is wrong is named before anything starts."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stigmer.console.theme import UNFOLD as UNFOLD
from stigmer.embedded import connection_parts
from stigmer.environment import (
    Environment,
    is_seal_key,
    kept_secret,
    new_seal_key,
    new_secret_key,
)
from stigmer.logs import logging_config

env = Environment(os.environ)

BASE_DIR = Path(__file__).resolve().parent.parent
STIGMER_VERSION = "0.1.0"
STIGMER_HOME = Path(env.text("STIGMER_HOME", str(BASE_DIR / ".stigmer"))).expanduser().absolute()
STIGMER_EMBEDDED = not env.text("DATABASE_URL")
STIGMER_ENV = env.choice(
    "STIGMER_ENV",
    "development" if STIGMER_EMBEDDED else "production",
    ("development", "production"),
)
PRODUCTION = STIGMER_ENV == "production"
DEBUG = False
PORT = env.number("PORT", 8000, 1, 65535)

# Keys ---------------------------------------------------------------------------------------------

SECRET_KEY = env.text("SECRET_KEY")
STIGMER_SEAL_KEYS = env.names("STIGMER_SEAL_KEYS")
STIGMER_HOSTS = env.names("STIGMER_HOSTS")
if PRODUCTION:
    for _name in ("SECRET_KEY", "STIGMER_SEAL_KEYS", "STIGMER_HOSTS"):
        if not env.text(_name):
            env.faults.append(f"{_name} is missing; it is required with STIGMER_ENV=production")
else:
    SECRET_KEY = SECRET_KEY or kept_secret(STIGMER_HOME / "secret_key", new_secret_key)
    STIGMER_SEAL_KEYS = STIGMER_SEAL_KEYS or [kept_secret(STIGMER_HOME / "seal_keys", new_seal_key)]
if SECRET_KEY and len(SECRET_KEY) < 50:
    env.faults.append("SECRET_KEY must have at least 50 characters")
if not all(is_seal_key(key) for key in STIGMER_SEAL_KEYS):
    env.faults.append("STIGMER_SEAL_KEYS must be 32 bytes each in URL-safe base64, comma between")
if "*" in STIGMER_HOSTS:
    env.faults.append("STIGMER_HOSTS must name hosts; * is refused")

# Database -----------------------------------------------------------------------------------------

STATEMENT_TIMEOUT = env.number("STIGMER_STATEMENT_TIMEOUT", 15, 0, 86400)
LOCK_TIMEOUT = env.number("STIGMER_LOCK_TIMEOUT", 5, 0, 86400)
IDLE_TIMEOUT = env.number("STIGMER_IDLE_TIMEOUT", 60, 0, 86400)
_TIMEOUTS = (
    f"-c statement_timeout={STATEMENT_TIMEOUT}s -c lock_timeout={LOCK_TIMEOUT}s "
    f"-c idle_in_transaction_session_timeout={IDLE_TIMEOUT}s"
)
_parts = connection_parts(STIGMER_HOME) if STIGMER_EMBEDDED else env.database("DATABASE_URL")
_options: dict[str, Any] = {
    "application_name": "stigmer",
    "connect_timeout": 5,
    **_parts.pop("OPTIONS", {}),
}
_options["options"] = f"{_TIMEOUTS} {_options.get('options', '')}".strip()
_options |= {"server_side_binding": True, "prepare_threshold": 5}
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        "ENGINE": "stigmer.core.postgresql",
        **_parts,
        "ATOMIC_REQUESTS": False,
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": _options,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The application ----------------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "stigmer.console.apps.ConsoleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "pgtrigger",
    "stigmer.background",
    "stigmer.console",
    "organizations",
    "resources",
    "executions",
    "workitems",
]
AUTH_USER_MODEL = "organizations.Principal"
AUTHENTICATION_BACKENDS = ["organizations.signing_in.PasswordBackend"]
ROOT_URLCONF = "stigmer.urls"
WSGI_APPLICATION = "stigmer.wsgi.application"
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
STIGMER_THROTTLE = env.switch("STIGMER_THROTTLE", "on")
# Requests a minute of one principal, by class of route.
STIGMER_RATES = {
    name: f"{env.number(f'STIGMER_RATE_{name.upper()}', default, 1, 1_000_000_000)}/minute"
    for name, default in (("reads", 12000), ("writes", 6000), ("claims", 3000))
}
STIGMER_AUTHORIZER = env.text("STIGMER_AUTHORIZER", "organizations.authorization.RoleAuthorizer")
STIGMER_LIST_READ_SCOPE = env.optional(
    "STIGMER_LIST_READ_SCOPE", "organizations.authorization.MembershipScope"
)
STIGMER_RESERVED_SLUGS = env.names("STIGMER_RESERVED_SLUGS")
STIGMER_METRICS = env.choice("STIGMER_METRICS", "open", ("open", "closed"))
STIGMER_BIND = env.text("STIGMER_BIND", "127.0.0.1")
STIGMER_WEB_THREADS = env.number("STIGMER_WEB_THREADS", 8, 1, 256)
# A quiet stream says a comment, and asks again whether its reader may read, every so many seconds.
STIGMER_STREAM_COMMENT = env.number("STIGMER_STREAM_COMMENT", 15, 1, 60)
STIGMER_STREAM_RECHECK = env.number("STIGMER_STREAM_RECHECK", 60, 1, 3600)
STIGMER_STREAM_THREADS = env.number("STIGMER_STREAM_THREADS", 4, 1, 64)
WORKITEM_SURFACE_RETENTION_DAYS = env.number("WORKITEM_SURFACE_RETENTION_DAYS", 90, 1, 36500)
WORKITEM_RETENTION_DAYS = env.number("WORKITEM_RETENTION_DAYS", 365, 1, 36500)
EXECUTION_EVENT_RETENTION_DAYS = env.number("EXECUTION_EVENT_RETENTION_DAYS", 90, 1, 36500)
EXECUTION_RETENTION_DAYS = env.number("EXECUTION_RETENTION_DAYS", 365, 1, 36500)
STIGMER_ENGINE = env.choice("STIGMER_ENGINE", "runner", ("runner", "temporal", "none"))
if STIGMER_ENGINE == "temporal" and find_spec("temporalio") is None:
    env.faults.append("STIGMER_ENGINE=temporal needs the package temporalio (extra `temporal`)")
TEMPORAL_ADDRESS = env.text("TEMPORAL_ADDRESS", "127.0.0.1:7233")
TEMPORAL_NAMESPACE = env.text("TEMPORAL_NAMESPACE", "default")
TEMPORAL_TASK_QUEUE = env.text("TEMPORAL_TASK_QUEUE", "stigmer")
TEMPORAL_API_KEY = env.text("TEMPORAL_API_KEY")
TEMPORAL_TLS = env.switch("TEMPORAL_TLS", "on" if TEMPORAL_API_KEY else "off")
STIGMER_MAX_CLAIM_ATTEMPTS = env.number("STIGMER_MAX_CLAIM_ATTEMPTS", 5, 1, 1000)

# The first sets what Django's Security, Common and XFrameOptions middleware would, for less; the
# last four are Django's own, on the addresses that know a session.
MIDDLEWARE = [
    "stigmer.http.middleware.RequestMiddleware",
    "stigmer.http.metrics.MetricsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "stigmer.http.middleware.PageSessions",
    "stigmer.http.middleware.PageForgeries",
    "stigmer.http.middleware.PageLogins",
    "stigmer.http.middleware.PageMessages",
]
STIGMER_SESSION_PATHS = ("/console", "/api/v1/tokens")
CSRF_FAILURE_VIEW = "stigmer.http.pages.forged"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
STATIC_URL = "/static/"
# An image collects the files once; elsewhere they are served from where they are.
STATIC_ROOT = env.text("STIGMER_STATIC") or None
WHITENOISE_USE_FINDERS = STATIC_ROOT is None
WHITENOISE_AUTOREFRESH = False

# Safety -------------------------------------------------------------------------------------------

ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *STIGMER_HOSTS]
STIGMER_TLS = env.switch("STIGMER_TLS", "on" if PRODUCTION else "off")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = STIGMER_TLS
SESSION_COOKIE_HTTPONLY = True
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_HSTS_SECONDS = 31536000 if STIGMER_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = False
# W001 to W003 look for Django's middleware, where ours does the same (see MIDDLEWARE); W005 and
# W021 concern domains that are not ours; W008: the proxy that ends TLS redirects.
SILENCED_SYSTEM_CHECKS = [f"security.W{n}" for n in ("001", "002", "003", "005", "008", "021")]
if env.switch("STIGMER_PROXY", "off"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in STIGMER_HOSTS]
# The routes bound their own bodies while reading.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

# Redis, background work ---------------------------------------------------------------------------

REDIS_URL = env.url("REDIS_URL", ("redis://", "rediss://", "unix://"))
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "stigmer",
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
BROKER_FOLDER = STIGMER_HOME / "broker"
CELERY_BROKER_URL = REDIS_URL or "stigmer-files://localhost//"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {"visibility_timeout": 3600, "socket_timeout": 5, "socket_connect_timeout": 5}
    if REDIS_URL
    else {
        "data_folder_in": str(BROKER_FOLDER / "messages"),
        "data_folder_out": str(BROKER_FOLDER / "messages"),
        "control_folder": str(BROKER_FOLDER / "control"),
        "polling_interval": 0.5,
    }
)
# Remote control would leave files behind for every process that ever ran.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = bool(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BEAT_SCHEDULER = "stigmer.background.scheduler:PatientScheduler"
# Our log is no print; a traceback sent through the log as printed text comes out in pieces.
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
DJANGO_CELERY_BEAT_TZ_AWARE = True

# The API ------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["stigmer.http.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "stigmer.http.problems.problem_response",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "stigmer",
    "DESCRIPTION": "The system of record for work that people ask agents and automation to do.",
    "VERSION": STIGMER_VERSION,
    "OAS_VERSION": "3.1.0",
    "DEFAULT_GENERATOR_CLASS": "stigmer.http.openapi.DoorGenerator",
}

LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

LOGGING = logging_config(json=PRODUCTION, level=env.text("STIGMER_LOG_LEVEL", "INFO").upper())

env.refuse()
