"""What a readiness check raises."""


class NotReadyError(Exception):
    """A part is not ready; the text is shown by /readyz and holds no secrets."""
