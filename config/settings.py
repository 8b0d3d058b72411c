"""Django's settings. Values come from the environment through config/env.py, which checks and documents them."""

from __future__ import annotations

import logging
import os
import sys

import environ

from config import local_model, logs
from config.env import LOCAL_HOSTS, PROJECT, SettingsInvalid, load_env_file, read_settings
from config.keys import load_or_make_keys

# Databases, keys and files of a study are nobody else's on a shared machine.
os.umask(0o077)

try:
    if env_file := os.environ.get("GOLDPANEL_ENV_FILE", ".env"):
        load_env_file(PROJECT / env_file)
    _values = read_settings(os.environ)
except SettingsInvalid as problem:
    # A traceback would bury the one line that helps.
    sys.exit(str(problem))

BASE_DIR = PROJECT
MODE = _values["GOLDPANEL_MODE"]
PRODUCTION = MODE == "production"
DEBUG = _values["GOLDPANEL_DEBUG"]
DATA = _values["GOLDPANEL_DATA"]
DATA.mkdir(mode=0o700, parents=True, exist_ok=True)

_keys = {"secret_key": _values["GOLDPANEL_SECRET_KEY"], "code_key": _values["GOLDPANEL_CODE_KEY"]}
if not all(_keys.values()):
    _keys = load_or_make_keys(DATA) | {name: key for name, key in _keys.items() if key}
SECRET_KEY = _keys["secret_key"]
CODE_KEY = _keys["code_key"]

ALLOWED_HOSTS = _values["GOLDPANEL_ALLOWED_HOSTS"] or LOCAL_HOSTS
TRUSTED_PROXIES = _values["GOLDPANEL_TRUSTED_PROXIES"]
PRIVATE_ENDPOINTS = _values["GOLDPANEL_PRIVATE_ENDPOINTS"]
# Only where the model is installed: elsewhere that port of this machine may be anything, and nobody allowed it.
LOCAL_MODEL_PORT = _values["GOLDPANEL_LOCAL_MODEL_PORT"] if local_model.is_installed() else None
if LOCAL_MODEL_PORT:
    PRIVATE_ENDPOINTS = [*PRIVATE_ENDPOINTS, local_model.host_and_port(LOCAL_MODEL_PORT)]
MAX_ITEM_BYTES = _values["GOLDPANEL_MAX_ITEM_BYTES"]
MAX_UPLOAD_BYTES = _values["GOLDPANEL_MAX_UPLOAD_BYTES"]
LEASE_MINUTES = _values["GOLDPANEL_LEASE_MINUTES"]
IDLE_SECONDS = _values["GOLDPANEL_IDLE_SECONDS"]
CLAIM_SECONDS = _values["GOLDPANEL_CLAIM_SECONDS"]
EXPORT_DAYS = _values["GOLDPANEL_EXPORT_DAYS"]

# Each line is paid by every request (docs/performance.md): add one only for what a view cannot do itself.
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "drf_spectacular",
    "annotate.apps.AnnotateConfig",
    "evaluation.apps.EvaluationConfig",
]
MIDDLEWARE = [
    "config.hostile_requests.HearOut",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.policy.SamePolicy",
    "config.language.PageLanguage",
    "config.hostile_requests.RefuseNul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "annotate.sessions.PersonMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
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
            ],
        },
    },
]

# Database
if (_database_url := _values["DATABASE_URL"]) is None:
    DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": DATA / "goldpanel.sqlite3"}}
else:
    DATABASES = {"default": environ.Env.db_url_config(_database_url)}
    if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
        DATABASES["default"]["ENGINE"] = "config.postgresql"
_database = DATABASES["default"]
# Opening a connection cost ten times the rest of a request.
_database["CONN_MAX_AGE"] = 600
_database["CONN_HEALTH_CHECKS"] = True
if _database["ENGINE"] == "django.db.backends.sqlite3":
    _database["OPTIONS"] = {
        # A transaction that reads first and writes later cannot wait for its turn in SQLite and fails as "locked":
        # each takes the write lock when it begins. FULL: an acknowledged answer survives a power cut.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON",
    }
else:
    _database["OPTIONS"] = {**_database.get("OPTIONS", {}), "connect_timeout": 5}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Broker and workers: the broker only rings bells (config/celery.py)
REDIS_URL = _values["REDIS_URL"]
BROKER_FOLDER = DATA / "broker"
CELERY_BROKER_URL = REDIS_URL or "goldpanel://localhost"
if REDIS_URL:
    # The visibility timeout is six times the longest task: a message is never handed out twice while one works on it.
    # Short socket timeouts: a request that rings a bell must not wait for a broker that is away.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
        "visibility_timeout": 3600,
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
        "health_check_interval": 30,
    }
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"folder": str(BROKER_FOLDER)}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_STORE_ERRORS_EVEN_IF_IGNORED = False
CELERY_TASK_DEFAULT_QUEUE = "goldpanel"
CELERY_TASK_TIME_LIMIT = 600
CELERY_TASK_SOFT_TIME_LIMIT = 570
# Rows, not messages, remember what is left: acknowledge on receipt. config/worker.py takes no more than is worked on.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# KiB, what is shared included: 80,000 when idle, 100,000 at a run. What a report took, a fresh process does not hold.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 150_000
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = "UTC"

# People
AUTH_USER_MODEL = "annotate.Person"
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in/"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SESSION_ENGINE = "annotate.sessions"
SESSION_COOKIE_AGE = _values["GOLDPANEL_SESSION_HOURS"] * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = PRODUCTION
# Signing in renews the token: an answer from a page loaded before must be sent again, not lost.
CSRF_FAILURE_VIEW = "annotate.views.signing_in.csrf_failure"
CSRF_TRUSTED_ORIGINS = _values["GOLDPANEL_TRUSTED_ORIGINS"]
if CSRF_TRUSTED_ORIGINS is None:
    # ".example.org" among the hosts is "*.example.org" among the origins.
    CSRF_TRUSTED_ORIGINS = [f"https://{'*' if host.startswith('.') else ''}{host}" for host in ALLOWED_HOSTS]
MESSAGE_STORAGE = "annotate.speaking.SaidMessages"

# What browsers are told
SECURE_CONTENT_TYPE_NOSNIFF = True
# A year, said over HTTPS alone: cookies go nowhere else anyway. Other names of the domain are their own affair.
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
if TRUSTED_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    },
}

# The API (annotate/api): tokens alone, JSON alone
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["annotate.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["annotate.api.permissions.HasScope"],
    "DEFAULT_PARSER_CLASSES": ["annotate.api.parsing.StrictJsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotate.api.negotiation.AlwaysJson",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "annotate.api.schema.Operation",
    "EXCEPTION_HANDLER": "annotate.api.errors.explain",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Goldpanel",
    "DESCRIPTION": "People and models answer the same items. Errors have one form; lists go on at `next`.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": ["annotate.api.schema.add_errors"],
}

# Language and time
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = PRODUCTION
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# Files
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Only production collects static files; elsewhere they are served from where they lie.
STATIC_ROOT = DATA / "static" if PRODUCTION else None
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": DATA / "files",
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage",
    },
}
# The first ends an upload at MAX_UPLOAD_BYTES, before it fills the disk.
FILE_UPLOAD_HANDLERS = [
    "annotate.uploads.UploadLimit",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
# Forms only; files are streamed and limited by MAX_UPLOAD_BYTES. A long answer is far below.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5_000_000

# Logs, and who may read how the installation fares
LOGGING = logs.configuration(logs.format_of(_values), _values["GOLDPANEL_LOG_LEVEL"])
# Else Python writes warnings between the lines.
logging.captureWarnings(logs.format_of(_values) == "json")
METRICS_TOKEN = _values["GOLDPANEL_METRICS_TOKEN"]
