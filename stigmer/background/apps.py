"""The application's place in Django."""

from django.apps import AppConfig


class BackgroundConfig(AppConfig):
    name = "stigmer.background"
    label = "background"
    verbose_name = "Background work"

    def ready(self) -> None:
        # Every process sends by the one Celery application.
        import stigmer.celery  # noqa: F401
        from stigmer.background import readiness

        readiness.register()
