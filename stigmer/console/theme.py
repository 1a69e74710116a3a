"""What the theme (django-unfold) is told: names, colours, navigation."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy


def environment(request: HttpRequest) -> tuple[str, str]:
    """The badge that says which installation this is."""
    tone = "danger" if settings.STIGMER_ENV == "production" else "info"
    return settings.STIGMER_ENV, tone


def _may(permission: str) -> Callable[[HttpRequest], bool]:
    return lambda request: request.user.has_perm(permission)


def _superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "is_superuser", False))


def _page(title: str, icon: str, app: str, model: str) -> dict[str, Any]:
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{model}_changelist"),
        "permission": _may(f"{app}.view_{model}"),
    }


NAVIGATION: list[dict[str, Any]] = [
    {
        "title": "Work",
        "items": [
            {"title": "Dashboard", "icon": "space_dashboard", "link": reverse_lazy("admin:index")},
            _page("Work items", "assignment", "workitems", "workitem"),
            _page("Workflow executions", "play_circle", "executions", "workflowexecution"),
            _page("Agent executions", "smart_toy", "executions", "agentexecution"),
            _page("Resources", "inventory_2", "resources", "resource"),
        ],
    },
    {
        "title": "Organizations",
        "items": [
            _page("Organizations", "corporate_fare", "organizations", "organization"),
            _page("Memberships", "group", "organizations", "membership"),
            _page("Slug ledger", "menu_book", "organizations", "organizationslug"),
        ],
    },
    {
        "title": "People",
        "items": [
            _page("Principals", "badge", "organizations", "principal"),
            _page("Tokens", "key", "organizations", "apitoken"),
            {
                "title": "Console groups",
                "icon": "admin_panel_settings",
                "link": reverse_lazy("admin:auth_group_changelist"),
                "permission": _superuser,
            },
        ],
    },
    {
        "title": "Background",
        "items": [
            _page("Heartbeats", "ecg_heart", "background", "heartbeat"),
            _page("Sweeps", "mop", "background", "sweeprun"),
            _page("Periodic tasks", "schedule", "django_celery_beat", "periodictask"),
            _page("Intervals", "timer", "django_celery_beat", "intervalschedule"),
            _page("Times of day", "calendar_clock", "django_celery_beat", "crontabschedule"),
        ],
    },
]

# Tailwind's blue: white on 600 and 600 on white both pass WCAG AA.
_BLUE = {
    "50": "oklch(97% .014 254.604)",
    "100": "oklch(93.2% .032 255.585)",
    "200": "oklch(88.2% .059 254.128)",
    "300": "oklch(80.9% .105 251.813)",
    "400": "oklch(70.7% .165 254.624)",
    "500": "oklch(62.3% .214 259.815)",
    "600": "oklch(54.6% .245 262.881)",
    "700": "oklch(48.8% .243 264.376)",
    "800": "oklch(42.4% .199 265.638)",
    "900": "oklch(37.9% .146 265.522)",
    "950": "oklch(28.2% .091 267.935)",
}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "stigmer",
    "SITE_HEADER": "stigmer",
    "SITE_SUBHEADER": "Console",
    "SITE_SYMBOL": "hub",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("console/favicon.svg"),
        }
    ],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "ENVIRONMENT": "stigmer.console.theme.environment",
    "DASHBOARD_CALLBACK": "stigmer.console.dashboard.fill",
    "LOGIN": {"form": "organizations.signing_in.SignInForm"},
    "STYLES": [lambda request: static("console/console.css")],
    "COLORS": {"primary": _BLUE},
    "SIDEBAR": {"show_search": False, "navigation": NAVIGATION},
}
