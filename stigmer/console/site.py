"""The admin site under /console/."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from unfold.sites import UnfoldAdminSite

from stigmer.console.passwords import OwnPasswordChange
from stigmer.console.policy import CONTENT_SECURITY_POLICY

# mode of the theme, its icon, its name
MODES = (
    ("light", "light_mode", "Light"),
    ("dark", "dark_mode", "Dark"),
    ("auto", "computer", "System"),
)


class ConsoleSite(UnfoldAdminSite):  # type: ignore[misc]
    """Django's admin in stigmer's clothes; every answer carries the console's policy."""

    site_title = "stigmer"
    site_header = "stigmer"
    index_title = "Dashboard"
    index_template = "console/dashboard.html"

    def get_urls(self) -> list[Any]:
        return [_with_policy(pattern) for pattern in super().get_urls()]

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), "console_modes": MODES}

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        request.current_app = self.name
        return OwnPasswordChange.as_view(
            extra_context={**self.each_context(request), **(extra_context or {})}
        )(request)


def _with_policy(pattern: Any) -> Any:
    """This pattern, or every pattern below it, with views that answer under the policy."""
    below = getattr(pattern, "url_patterns", None)
    if below is not None:
        for inner in below:
            _with_policy(inner)
    else:
        pattern.callback = _guarded(pattern.callback)
    return pattern


def _guarded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    # What Django reads off a view: the admin it belongs to, its exemption from CSRF.
    guarded.__dict__.update(getattr(view, "__dict__", {}))
    return guarded
