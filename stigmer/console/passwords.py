"""The signed-in principal changes its password, by the operation that everybody uses."""

from typing import Any

from django.contrib.auth.views import PasswordChangeView
from django.urls import reverse_lazy
from django.utils import timezone
from unfold.forms import AdminOwnPasswordChangeForm

from organizations.operations.principals import set_password
from stigmer.console.base.acting import SURFACE
from stigmer.core.callers import Act
from stigmer.core.errors import Refusal
from stigmer.core.registries import callers


class OwnPasswordForm(AdminOwnPasswordChangeForm):  # type: ignore[misc]
    """The old password and twice the new one."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        if not self.errors:
            self._set(cleaned["new_password1"])
        return cleaned

    def _set(self, password: str) -> None:
        name = self.user.get_username()
        by = Act(caller=callers.by_name(name), surface=SURFACE)
        try:
            set_password(principal=name, password=password, by=by, now=timezone.now())
        except Refusal as refusal:
            self.add_error("new_password1", refusal.detail)

    def save(self, commit: bool = True) -> Any:
        # Already written, and only the password: saving the whole row would undo what an admin
        # did to this principal meanwhile.
        self.user.refresh_from_db()
        return self.user


class OwnPasswordChange(PasswordChangeView):
    """The page of the form."""

    form_class = OwnPasswordForm
    success_url = reverse_lazy("admin:password_change_done")
