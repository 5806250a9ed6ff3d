"""Settings, from the environment with defaults that work on a laptop. A value that makes no sense stops the program.

EAGLE3_HOME            folder of everything the system writes (default ./var)
DATABASE_URL           sqlite:///… (default, in EAGLE3_HOME) or postgres://…
EAGLE3_DATABASE_POOL   PostgreSQL connections that a process keeps and shares among its threads (default 0: one for each thread;
                       the Procfile's web process keeps 12)
EAGLE3_ARTIFACTS       store by which hosts without a shared disk hand files to one another: a folder or an fsspec URL such as
                       s3://bucket/prefix (requirements-s3.txt); default: none, the hosts share EAGLE3_HOME's folders
REDIS_URL              redis://… or unix://PATH (default: the system's own Valkey on a socket in EAGLE3_HOME)
EAGLE3_SECRET_KEY      default: generated once, kept in EAGLE3_HOME/secret_key
EAGLE3_ALLOWED_HOSTS   comma-separated names that the site answers to (default: localhost)
EAGLE3_ORIGINS         comma-separated origins trusted behind a proxy, such as https://eagle3.example
EAGLE3_HOST            this machine's name in the dashboard (default: its host name)
EAGLE3_HOST_TAGS       comma-separated tags that runs may ask for, such as h200,nvme (default: none)
EAGLE3_IMPORT_ROOT     folder below which datasets may be imported by path (default EAGLE3_HOME/imports)
EAGLE3_NOTIFY_HOSTS    comma-separated hosts (HOST or HOST:PORT) that people's webhooks and mails may go to (default: none)
EAGLE3_ENGINE_HOSTS    comma-separated hosts of engines: HOST, HOST:PORT, .DOMAIN, NETWORK/BITS (default: all but link-local)
EAGLE3_STAGE_SECRETS   comma-separated environment variables that stages get although they look like secrets, such as HF_TOKEN
EAGLE3_API_RATE        requests a minute that one token or person may make, and ten times that one address (default 1200)
EAGLE3_SIGN_IN_RATE    times a minute that one address may try to sign in, under whatever names (default 30)
EAGLE3_TIME_ZONE       zone of people who did not choose one (default UTC)
EAGLE3_HTTPS           true behind TLS: secure cookies, HSTS
EAGLE3_DEBUG           true shows tracebacks in the browser; never on a shared machine
"""

import contextlib
import hashlib
import os
import secrets
import socket
import stat
import tempfile
from datetime import timedelta
from pathlib import Path

import environ
from celery.schedules import crontab
from csp.constants import NONE, SELF
from kombu import Queue

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent

EAGLE3_HOME = Path(env.str("EAGLE3_HOME", str(BASE_DIR / "var"))).resolve()
with contextlib.suppress(OSError):  # the system check eagle3web.E001 says what is wrong with the folder
    EAGLE3_HOME.mkdir(parents=True, exist_ok=True)
EAGLE3_HOST: str = env.str("EAGLE3_HOST", socket.gethostname())
EAGLE3_HOST_TAGS: list[str] = env.list("EAGLE3_HOST_TAGS", default=[])
EAGLE3_ARTIFACTS: str = env.str("EAGLE3_ARTIFACTS", "")
EAGLE3_IMPORT_ROOT = Path(env.str("EAGLE3_IMPORT_ROOT", str(EAGLE3_HOME / "imports"))).resolve()

DEBUG: bool = env.bool("EAGLE3_DEBUG", False)
ALLOWED_HOSTS: list[str] = env.list("EAGLE3_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("EAGLE3_ORIGINS", default=[])


def _secret_key() -> str:
    """The secret of this installation, made once; readable by its owner only. Empty in a home that cannot be written."""
    path = EAGLE3_HOME / "secret_key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    except OSError:
        return ""
    with os.fdopen(descriptor, "w") as file:
        file.write(secret := secrets.token_urlsafe(50))
    return secret


def _socket_path() -> Path:
    """Valkey's socket: in EAGLE3_HOME, or elsewhere under a short name where that path is too long for a socket (107 bytes)."""
    path = EAGLE3_HOME / "valkey.sock"
    if len(os.fsencode(path)) <= 100:
        return path
    return Path(tempfile.gettempdir()) / f"eagle3-{hashlib.sha256(bytes(EAGLE3_HOME)).hexdigest()[:12]}.sock"


SECRET_KEY: str = env.str("EAGLE3_SECRET_KEY", "") or _secret_key()

INSTALLED_APPS = [
    "eagle3web",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "bootstrap",
    "django_filters",
    "django_htmx",
    "django_tables2",
    "simple_history",
    "axes",
    "channels",
    "csp",
    "ninja",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "eagle3web.middleware.HeadersMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "eagle3web.middleware.RateMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
    "eagle3web.middleware.TimeZoneMiddleware",
    "eagle3web.middleware.AdminNumbersMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "eagle3web.urls"
ASGI_APPLICATION = "eagle3web.asgi.application"
AUTH_USER_MODEL = "eagle3web.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "sign-in"

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


def _close_to_others(database: str) -> None:
    """SQLite's file holds password hashes and sessions: nobody but owner and group reads it, nor what lies beside it.

    It is made here, empty and the owner's alone, since SQLite would make it readable by everyone; -wal and -shm take its mode.
    """
    if database == ":memory:":
        return
    with contextlib.suppress(OSError):  # another user's, or in no folder: opening it says what is wrong
        os.close(os.open(database, os.O_RDWR | os.O_CREAT, 0o600))
        for path in (Path(database), Path(f"{database}-wal"), Path(f"{database}-shm")):
            if path.exists() and path.stat().st_mode & 0o007:
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o007)


DATABASES = {"default": env.db_url("DATABASE_URL", f"sqlite:///{EAGLE3_HOME / 'eagle3.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # WAL lets the pages read while a supervisor writes. IMMEDIATE takes the write lock at the start of a transaction, so
    # that two writers wait for each other instead of failing half-way.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
    }
    _close_to_others(DATABASES["default"]["NAME"])
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # A server that cannot be reached any more must be noticed, not waited for: five seconds to connect, twenty for an answer.
    patience = {"connect_timeout": 5, "tcp_user_timeout": 20_000}
    DATABASES["default"]["OPTIONS"] = patience | DATABASES["default"].get("OPTIONS", {})
    if pooled := env.int("EAGLE3_DATABASE_POOL", 0):
        # Under ASGI each request has a thread of its own, and with it would open a connection of its own: milliseconds
        # each, and a burst of readers would take all that the server has.
        DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": pooled, "timeout": 10}

REDIS_URL: str = env.str("REDIS_URL", f"unix://{_socket_path()}")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "eagle3", "capacity": 500, "expiry": 10},
    },
}

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
# A worker listens to the common queue and to its own host's.
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_QUEUES = [Queue(CELERY_TASK_DEFAULT_QUEUE), Queue(f"host.{EAGLE3_HOST}")]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.2}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 300, "socket_timeout": 10, "socket_connect_timeout": 5}
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "reconcile": {"task": "eagle3web.tasks.reconcile", "schedule": 10.0, "options": {"expires": 10}},
    "check-engines": {"task": "eagle3web.tasks.check_engines", "schedule": 5.0, "options": {"expires": 5}},
    "send-notifications": {"task": "eagle3web.tasks.send_notifications", "schedule": 5.0, "options": {"expires": 5}},
    "sample-host": {"task": "eagle3web.tasks.sample_host", "schedule": 5.0, "options": {"expires": 5}},
    "prune": {"task": "eagle3web.tasks.prune", "schedule": crontab(hour=3, minute=30), "options": {"expires": 3600}},
    "thin-samples": {"task": "eagle3web.tasks.thin_samples", "schedule": 600.0, "options": {"expires": 600}},
}
CELERY_BEAT_SCHEDULER = "eagle3web.scheduler:Scheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(EAGLE3_HOME / "celerybeat-schedule")

# Ages, in seconds, that decide which word a live attempt gets on the screen. Ticks come every second and reach the database
# with the next heartbeat, at most two seconds later: 3.5 s lets "silent" appear within 5 s, and never for a loop that turns.
EAGLE3_SILENT_AFTER = 3.5
EAGLE3_UNRESPONSIVE_AFTER = 10.0
EAGLE3_LOST_AFTER = 30.0
EAGLE3_WAITING_AFTER = 45.0
EAGLE3_NOTIFY_HOSTS: list[str] = env.list("EAGLE3_NOTIFY_HOSTS", default=[])
EAGLE3_ENGINE_HOSTS: list[str] = env.list("EAGLE3_ENGINE_HOSTS", default=[])
EAGLE3_STAGE_SECRETS: list[str] = env.list("EAGLE3_STAGE_SECRETS", default=[])
EAGLE3_API_RATE: int = env.int("EAGLE3_API_RATE", 1200)
EAGLE3_SIGN_IN_RATE: int = env.int("EAGLE3_SIGN_IN_RATE", 30)
EAGLE3_UPLOAD_LIMIT = 2 * 1024**3

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

# After so many wrong passwords for one name from one address, that address waits before it may try that name again. The name
# alone is no reason: somebody else's mistakes must not keep a person out.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "eagle3web.views.sign_in.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE: str = env.str("EAGLE3_TIME_ZONE", "UTC")

STATIC_URL = "/static/"
STATIC_ROOT = EAGLE3_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "eagle3web.staticfiles.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "eagle3web.staticfiles.ModuleStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "object-src": [NONE],
    },
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
if env.bool("EAGLE3_HTTPS", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    # Other names of the domain, and a browser's built-in list, are not this program's to promise.
    SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "eagle3web.safe_logs.SafeFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "filters": {"refusals": {"()": "eagle3web.safe_logs.NoTraceOfRefusals"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["refusals"]}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
        # Lines of these two may carry addresses with their secrets; what a person needs is in the error of their message.
        "urllib3": {"level": "ERROR"},
        "apprise": {"level": "CRITICAL", "propagate": False},
    },
}
