"""The values of environments, for whoever starts an execution; no route answers them."""

from __future__ import annotations

from collections.abc import Sequence

from resources import secrets
from resources.errors import ResourceNotFound
from resources.queries.documents import seen
from stigmer.core.callers import Caller


def variables(viewer: Caller, ids: Sequence[str]) -> dict[str, str]:
    """The variables of these environments, secrets unsealed; a later environment wins.

    Raises ResourceNotFound for one that is gone or that the viewer cannot see.
    """
    found = seen(viewer, "environment").filter(pk__in=ids)
    stored = {id: (spec, sealed) for id, spec, sealed in found.values_list("id", "spec", "sealed")}
    values: dict[str, str] = {}
    for id in ids:
        if id not in stored:
            raise ResourceNotFound.of("environment", id)
        spec, sealed = stored[id]
        for name, variable in spec["variables"].items():
            secret = variable.get("secret", False)
            values[name] = secrets.unseal(sealed[name]) if secret else variable["value"]
    return values
