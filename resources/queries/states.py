"""What bootstrap remembers."""

from resources.models import BootstrapState


def get_state(key: str) -> str:
    """The value of this key, "" when there is none."""
    return BootstrapState.objects.filter(pk=key).values_list("value", flat=True).first() or ""


def all_states() -> dict[str, str]:
    """Every key with its value, by key."""
    return dict(BootstrapState.objects.order_by("key").values_list("key", "value"))
