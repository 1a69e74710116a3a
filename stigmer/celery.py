"""The Celery application: it wakes workers, the database remembers."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stigmer.settings")

app = Celery("stigmer")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()
