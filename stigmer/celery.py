"""The Celery application: it wakes workers, the database remembers."""

import os
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import beat_init, before_task_publish, worker_init
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from stigmer import embedded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stigmer.settings")
TRANSPORT_ALIASES["stigmer-files"] = "stigmer.background.broker:Transport"

app = Celery("stigmer")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()

if settings.STIGMER_ENV == "development":
    # A first try as root in a container is no reason to scare anybody; an image has its own user.
    warnings.filterwarnings("ignore", category=SecurityWarning)
if not settings.REDIS_URL:
    for folder in ("messages", "control"):
        Path(settings.BROKER_FOLDER, folder).mkdir(parents=True, exist_ok=True)


@worker_init.connect
@beat_init.connect
def hold_database(**_arguments: Any) -> None:
    if settings.STIGMER_EMBEDDED:
        embedded.hold(settings.STIGMER_HOME)


@beat_init.connect
def prepare_beat(**_arguments: Any) -> None:
    """Beat knows every declared task, and its messages tell when it sent them."""
    from stigmer.background.schedule import seed
    from stigmer.background.scheduler import patiently

    before_task_publish.connect(stamp)
    patiently(lambda: seed(now=datetime.now(UTC)))


def stamp(headers: dict[str, Any], **_arguments: Any) -> None:
    headers["beat_sent_at"] = datetime.now(UTC).isoformat()
