"""How log records look: JSON lines in production, readable lines in development."""

from typing import Any

import structlog

SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def logging_config(*, json: bool, level: str) -> dict[str, Any]:
    """Django's LOGGING; structlog's own loggers and the standard library's end in one handler."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_renderers(json),
                ],
                "foreign_pre_chain": SHARED,
            },
            "access": {"()": "stigmer.http.access.AccessFormatter", "json": json},
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "lines"},
            "access": {"class": "logging.StreamHandler", "formatter": "access"},
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django": {"level": level},
            # The access log has every status, `stigmer.refusals` every unforeseen cause.
            "django.request": {"level": "CRITICAL"},
            "stigmer.access": {"handlers": ["access"], "level": level, "propagate": False},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "django.server": {"handlers": ["console"], "level": level, "propagate": False},
            "httpx": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "django_celery_beat": {"level": "WARNING"},
        },
    }


def _renderers(json: bool) -> list[structlog.typing.Processor]:
    if json:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # Not the rich form: it shows every local variable, passwords too.
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=plain)]
