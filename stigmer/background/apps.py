"""The application's place in Django."""

from django.apps import AppConfig


class BackgroundConfig(AppConfig):
    name = "stigmer.background"
    label = "background"
    verbose_name = "Background work"
