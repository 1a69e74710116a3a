"""How values look on a page; everything that came from outside is escaped text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A captioned table of a detail page; `note` says what it leaves out."""

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[object]]
    empty: str = "Nothing yet."
    note: str = ""

    @property
    def labelled(self) -> list[list[tuple[str, object]]]:
        """The rows with every cell's header, for narrow screens."""
        return [list(zip(self.headers, row, strict=True)) for row in self.rows]


def badge(text: object, tone: str = "") -> SafeString:
    """A small label; its tone is a class of `console.css`, by default the text itself."""
    return format_html('<span class="badge badge-{}">{}</span>', tone or text, text)


def moment(at: datetime | None) -> SafeString | str:
    """A time in UTC to the second; the whole of it is in the title."""
    if at is None:
        return NOTHING
    exact = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{} UTC</time>',
        exact.isoformat(),
        exact.isoformat(),
        exact.strftime("%Y-%m-%d %H:%M:%S"),
    )


def minute(at: datetime | None) -> SafeString | str:
    """A time in UTC to the minute, for lists; the whole of it is in the title."""
    if at is None:
        return NOTHING
    exact = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(),
        exact.isoformat(),
        exact.strftime("%Y-%m-%d %H:%M"),
    )


def code(text: object) -> SafeString | str:
    """An identifier in fixed width."""
    return format_html('<code class="id">{}</code>', text) if text not in (None, "") else NOTHING


def prose(text: str) -> SafeString:
    """Text of a person: its lines are kept, nothing in it is markup or a link."""
    return format_html('<span class="prose-text" dir="auto">{}</span>', text)


def linked(address: str, text: object) -> SafeString:
    """A link to another page of the console."""
    return format_html('<a class="link" href="{}">{}</a>', address, text)
