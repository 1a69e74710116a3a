"""The work items app."""

from django.apps import AppConfig


class WorkItemsConfig(AppConfig):
    """Registers what this app asks of others and offers to them."""

    name = "workitems"
    verbose_name = "Work items"
