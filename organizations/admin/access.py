"""Who may use the console: a form for platform admins on the page of a principal."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone

from organizations.models import Principal
from organizations.operations.principals import set_console_access
from stigmer.console.base import act_of
from stigmer.core.errors import Refusal


class AccessForm(forms.Form):
    """Staff or not, and whose permissions."""

    staff = forms.BooleanField(required=False, label="May sign in to the console (staff)")
    groups = forms.ModelMultipleChoiceField(
        queryset=Group.objects.order_by("name"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Groups, whose permissions count",
    )


def access_view(admin: Any, request: HttpRequest, key: str) -> HttpResponse:
    """Show the form, or set what it says and go back to the principal."""
    row: Principal = admin.found(request, key)
    if not getattr(request.user, "is_superuser", False):
        raise PermissionDenied
    if request.method != "POST":
        known = {"staff": row.is_staff, "groups": row.groups.all()}
        return _page(admin, request, row, AccessForm(initial=known))
    form = AccessForm(request.POST)
    if not form.is_valid():
        return _page(admin, request, row, form)
    _set(request, row, form.cleaned_data)
    return HttpResponseRedirect(admin.address("change", row.pk))


def _set(request: HttpRequest, row: Principal, wanted: dict[str, Any]) -> None:
    try:
        set_console_access(
            principal=row.name,
            staff=wanted["staff"],
            groups=[group.pk for group in wanted["groups"]],
            by=act_of(request),
            now=timezone.now(),
        )
    except Refusal as refusal:
        messages.error(request, f"{row.name}: {refusal.detail}")
    else:
        messages.success(request, f"{row.name}: access to the console set")


def _page(admin: Any, request: HttpRequest, row: Principal, form: AccessForm) -> HttpResponse:
    return TemplateResponse(
        request,
        "console/access.html",
        {
            **admin.admin_site.each_context(request),
            "opts": admin.opts,
            "title": f"Console access of {row.name}",
            "form": form,
            "back": admin.address("change", row.pk),
        },
    )
