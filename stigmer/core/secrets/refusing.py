"""Look for a secret in text or JSON, and refuse it by field and kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stigmer.core.errors import Invalid
from stigmer.core.secrets.families import FAMILY_RULES
from stigmer.core.secrets.plugins import PLUGIN_RULES, Rule, Search, fold

# No pattern reaches across it: nothing but white space matches a line feed, and nothing a NUL
# that follows one. So one scan over joined strings finds what a scan of each would.
_APART = "\n\x00\n"


def _by_probe(rules: tuple[Rule, ...]) -> tuple[tuple[str, tuple[tuple[str, Search], ...]], ...]:
    """Each probe with the rules behind it: most text holds few of the probes."""
    behind: dict[str, list[tuple[str, Search]]] = {}
    for rule in rules:
        for probe in rule.probes:
            behind.setdefault(probe, []).append((rule.kind, rule.search))
    return tuple((probe, tuple(searches)) for probe, searches in behind.items())


_RULES = _by_probe(FAMILY_RULES + PLUGIN_RULES)


class SecretInText(Invalid):
    """The text contains a secret.

    Nothing was stored. `details` names the field and the kind of secret, never its value: revoke
    it if it was real, remove it, and send the request again.
    """

    code = "secret_in_text"


def find_secret(text: str) -> str | None:
    """The kind of a secret that the text contains ("GitHub token"), or None."""
    folded = fold(text)
    for probe, rules in _RULES:
        if probe in folded:
            for kind, search in rules:
                if search(text, folded):
                    return kind
    return None


def find_secret_in(value: Any) -> str | None:
    """The kind of a secret in any key or string of a JSON value, or None."""
    if isinstance(value, str):
        return find_secret(value)
    return find_secret(_APART.join(_strings(value)))


def refuse_secrets(**fields: object) -> None:
    """Scan each field (a text, a JSON value, or None) in the order given.

    Raises SecretInText, which names the first field with a secret and the secret's kind.
    """
    if not find_secret_in(list(fields.values())):
        return
    for field, value in fields.items():
        kind = find_secret_in(value)
        if kind:
            raise SecretInText(f"{field} contains a secret: {kind}", field=field, kind=kind)


def _strings(value: object) -> Iterator[str]:
    """Every key and string, without recursion: the depth of the value is the caller's."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value)
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
