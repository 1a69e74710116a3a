"""Secrets in text that people and programs send: found, named by kind, and refused."""

from __future__ import annotations

from stigmer.core.secrets.refusing import (
    SecretInText,
    find_secret,
    find_secret_in,
    refuse_secrets,
)

__all__ = ["SecretInText", "find_secret", "find_secret_in", "refuse_secrets"]
