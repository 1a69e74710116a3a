"""The console app, and Django's admin with the console as its site."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin


class ConsoleConfig(AppConfig):
    """The admin site with its templates and base classes."""

    name = "stigmer.console"
    label = "console"
    verbose_name = "Console"


class ConsoleAdminConfig(admin.AdminConfig):
    """Django's admin: every `admin.py` registers on the console."""

    default = False
    default_site = "stigmer.console.site.ConsoleSite"
