"""The executions app."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "executions"
    verbose_name = "Executions"
