"""Search as every source understands it: the question, the words in it, and what was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from stigmer.core.callers import Caller

# A word has a letter or a digit; marks alone are none.
_WORD = re.compile(r"[^\W_]\S*")
_SELECTORS = dict.fromkeys(range(0xFE00, 0xFE10))
WORD_CHARACTERS = 255
TEXT_CHARACTERS = 64 * 1024
# A text search query whose last and only word also matches as a prefix. Queries and documents pass
# the same parser, so that whatever it makes of a word, it makes of both.
_PREFIXED = """(SELECT CASE WHEN numnode(q) = 0 THEN q ELSE (q::text || ':*')::tsquery END
    FROM plainto_tsquery('simple', %s) AS q)"""
_PLAIN = "plainto_tsquery('simple', %s)"
# Normalization 32 keeps a rank below 1; what is found is never shown with 0.
_SCORE = "GREATEST(ts_rank({vector}, {query}, 32), 1e-6)"
# ASCII punctuation parts words, as in `fold`; what PostgreSQL would take for a path or a host.
PARTED = r"""regexp_replace({text}, '[!-/:-@\[-`{{-~]', ' ', 'g')"""


def fold(text: str) -> str:
    """The words of a text in the form in which they are compared, a space between.

    Unicode compatibility and case are folded here: what PostgreSQL folds depends on its locale.
    """
    once = unicodedata.normalize("NFKC", text[:TEXT_CHARACTERS]).casefold()
    words = _WORD.findall(_parted(unicodedata.normalize("NFKC", once)))
    return " ".join(word[:WORD_CHARACTERS] for word in words)[:TEXT_CHARACTERS]


def _parted(text: str) -> str:
    """The text with a space for whatever parts words.

    A mark belongs to the letter before it: vowels of many scripts are marks. A variation selector
    only chooses a picture.
    """
    parting = {ord(sign): " " for sign in set(text) if not sign.isalnum() and not _is_mark(sign)}
    return text.translate(parting | _SELECTORS)


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Mc")


class Hit(NamedTuple):
    """One thing that was found; `at` orders equal scores, newest first."""

    kind: str
    id: str
    name: str
    slug: str
    org: str
    score: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for, and in what.

    `words` is folded, "" lists everything; `kinds` are those wanted; `first` is how many hits a
    source gives at most; `ids_by_kind` narrows a kind to these ids, an absent kind is free.
    """

    viewer: Caller
    words: str
    kinds: frozenset[str]
    first: int
    org: str | None = None
    include_public: bool = False
    exclude_public: bool = False
    ids_by_kind: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def query(self) -> tuple[str, list[Any]]:
        """The tsquery as SQL with its parameters: words AND together, a single one is a prefix."""
        return (_PLAIN if " " in self.words else _PREFIXED), [self.words]

    def held(self, vector: str) -> tuple[str, list[Any]]:
        """SQL that tells whether this tsvector has the words, with its parameters."""
        query, params = self.query()
        return f"{vector} @@ {query}", params

    def score(self, vector: str) -> tuple[str, list[Any]]:
        """SQL for the score of this tsvector in (0, 1], with its parameters; 1 for a list."""
        if not self.words:
            return "1.0::float8", []
        query, params = self.query()
        return _SCORE.format(vector=vector, query=query), params

    def may_hold(self, kind: str) -> bool:
        """Whether hits of this kind are wanted and allowed at all."""
        return kind in self.kinds and self.ids_by_kind.get(kind) != frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """The best hits of one source, best first, and how many there are of each kind."""

    hits: list[Hit]
    counts: dict[str, int]
