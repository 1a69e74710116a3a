"""Documents and the difference between two versions, as text that people read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from resources.queries.versions import Version
from stigmer.console.base import Table, badge, code, linked, moment, prose

SHOWN = 100
CONTEXT = 3
LINES = 2000
_HASH = 12


def pretty(value: Any) -> SafeString:
    """JSON over several lines, as text."""
    return format_html("<pre>{}</pre>", _text(value))


def versions(found: Sequence[Version], address: Callable[[Version, Version], str]) -> Table:
    """Versions, newest first, each with a link to what it changed."""
    shown = list(found[:SHOWN])
    older = {new.id: old for new, old in pairwise(found)}
    return Table(
        "Versions",
        ("When", "Hash", "Tag", "Who", "Change"),
        [
            (
                moment(version.archived_at),
                code(version.version_hash[:_HASH]),
                badge(version.tag, "event") if version.tag else "–",
                prose(version.archived_by),
                linked(address(older[version.id], version), "Compare with the one before")
                if version.id in older
                else "The first",
            )
            for version in shown
        ],
        empty="This kind keeps no versions, or there is none.",
        note=f"The newest {SHOWN} are shown." if len(found) > SHOWN else "",
    )


def difference(old: Version, new: Version) -> list[Table]:
    """What changed between two versions: metadata and spec, line by line."""
    return [
        _lines(part.capitalize(), old.snapshot[part], new.snapshot[part])
        for part in ("metadata", "spec")
    ]


def _lines(caption: str, old: Any, new: Any) -> Table:
    before, after = _text(old).splitlines(), _text(new).splitlines()
    rows: list[tuple[object, object, object, object]] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if rows:
            rows.append(("", "", "", "…"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                rows += [(a + n + 1, c + n + 1, "", _line("span", before[a + n]))
                         for n in range(b - a)]  # fmt: skip
                continue
            rows += [(n + 1, "", badge("removed", "archived"), _line("del", before[n]))
                     for n in range(a, b)]  # fmt: skip
            rows += [("", n + 1, badge("added", "completed"), _line("ins", after[n]))
                     for n in range(c, d)]  # fmt: skip
    return Table(
        caption,
        ("Before", "After", "Change", "Line"),
        rows[:LINES],
        empty="Nothing changed.",
        note=f"The first {LINES} lines are shown." if len(rows) > LINES else "",
    )


def _line(element: str, text: str) -> SafeString:
    open_tag = {"span": "<span>", "del": "<del>", "ins": "<ins>"}[element]
    return format_html(open_tag + "<code>{}</code></" + element + ">", text)


def _text(value: Any) -> str:
    """JSON by sorted keys; the lines of a long text stand apart, so that they can be compared."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True).replace("\\n", "\n")
