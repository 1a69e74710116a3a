"""Bootstrap: load a seed pack once, whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from organizations.errors import OrganizationNotFound
from organizations.operations.holding import hold
from resources.errors import ResourceNotFound, UnknownKind
from resources.kinds import stored_as
from resources.operations.documents import ensure
from resources.operations.states import claim_state
from resources.queries import documents as reading
from resources.specs.packs import REFERENCE, Pack, PackResource
from stigmer.core.callers import Act
from stigmer.core.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Report:
    """What became of each document, as (kind, slug); `loaded` is false the second time."""

    loaded: bool
    created: list[tuple[str, str]] = field(default_factory=list)
    changed: list[tuple[str, str]] = field(default_factory=list)
    left_alone: list[tuple[str, str]] = field(default_factory=list)


def key_of(pack: Pack) -> str:
    """Under which key a loaded pack is remembered."""
    return f"pack:{pack.name}:{pack.version}"


@transaction.atomic
def load_pack(*, pack: Pack, by: Act, now: datetime) -> Report:
    """Store the documents of a pack that was not loaded before, and remember it.

    One transaction: killed anywhere, nothing is there and the next run does it all. Of two at once
    the second waits and finds the pack loaded. Raises OrganizationNotFound, InvalidRequest that
    names the place in the pack, and what a write of a document is refused with.
    """
    if not claim_state(key=key_of(pack), value=now.isoformat(), now=now):
        return Report(loaded=False)
    if not hold(pack.organization):
        raise OrganizationNotFound(f"there is no organization {pack.organization!r}")
    report = Report(loaded=True)
    for place, resource in enumerate(pack.resources):
        _load(resource, pack, f"/resources/{place}", report, by, now)
    return report


def _load(
    resource: PackResource, pack: Pack, at: str, report: Report, by: Act, now: datetime
) -> None:
    try:
        kind = stored_as(resource.kind)
        document = {
            "metadata": {**resource.metadata, "org": pack.organization},
            "spec": _resolved(resource.spec, pack.organization),
        }
        applied = ensure(kind=kind.name, document=document, by=by, now=now)
    except UnknownKind as fault:
        raise InvalidRequest(fault.detail, pointer=f"{at}/kind", fault=fault.code) from None
    except ResourceNotFound as fault:
        raise InvalidRequest(fault.detail, pointer=at, fault="reference") from None
    except InvalidRequest as fault:
        raise InvalidRequest(fault.detail, pointer=at + fault.pointer, fault=fault.fault) from None
    done = report.left_alone
    if applied.changed:
        done = report.created if applied.created else report.changed
    done.append((resource.kind, applied.document.slug))


def _resolved(value: Any, organization: str) -> Any:
    """The value with every `ref:Kind/slug` replaced by the id of that document."""
    if isinstance(value, dict):
        return {key: _resolved(item, organization) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, organization) for item in value]
    if not isinstance(value, str) or not value.startswith(REFERENCE):
        return value
    display, _, slug = value.removeprefix(REFERENCE).partition("/")
    kind = stored_as(display)
    found = reading.find_by_slug(kind.name, organization, slug)
    if found is None:
        raise ResourceNotFound.of(kind.name, f"{organization}/{slug}")
    return found.id
