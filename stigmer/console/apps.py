"""The console app."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """The admin site with its templates and base classes."""

    name = "stigmer.console"
    label = "console"
    verbose_name = "Console"
