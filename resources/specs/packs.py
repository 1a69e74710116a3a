"""Seed packs: documents of one organization in one YAML file."""

from __future__ import annotations

from types import NoneType
from typing import Annotated, Any

import msgspec
import yaml
from msgspec import Meta

from stigmer.core.canonical import LARGEST
from stigmer.core.errors import InvalidRequest
from stigmer.http.fields import line
from stigmer.http.json_text import check_characters, step
from stigmer.http.parsing import check_rules, fault_of

REFERENCE = "ref:"


class PackResource(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One document of a pack; its organization is the pack's."""

    kind: str
    metadata: dict[str, Any]
    spec: dict[str, Any]


class Pack(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A named and versioned set of documents."""

    name: Annotated[str, line(128)]
    version: Annotated[str, line(64)]
    organization: Annotated[str, line(63)]
    resources: Annotated[list[PackResource], Meta(min_length=1, max_length=10_000)]


class _Loader(yaml.SafeLoader):
    """Plain data alone: no dates, which JSON does not know, and no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} appears twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_DATES = "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag != _DATES]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_pack(source: str) -> Pack:
    """The pack in this YAML.

    Raises InvalidRequest that names the line or the place.
    """
    try:
        data = yaml.load(source, _Loader)  # noqa: S506 the loader is a SafeLoader
    except yaml.YAMLError as cause:
        raise InvalidRequest(f"the pack is not valid YAML: {cause}", fault="not_yaml") from None
    try:
        pack = msgspec.convert(data, Pack, strict=True)
    except msgspec.ValidationError as error:
        raise fault_of(str(error)) from None
    check_rules(pack)
    _check_plain(data)
    check_characters(data)
    for place, resource in enumerate(pack.resources):
        if "org" in resource.metadata:
            raise InvalidRequest(
                "the organization of a pack's documents is the pack's",
                pointer=f"/resources/{place}/metadata/org",
                fault="unknown_field",
            )
    return pack


def _check_plain(value: Any, pointer: str = "") -> None:
    """YAML says more than JSON: other keys than texts, bytes, sets, numbers without end."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidRequest(f"the key {key!r} is no text", pointer=pointer, fault="key")
            _check_plain(item, pointer + step(key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_plain(item, f"{pointer}/{place}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if not -LARGEST <= value <= LARGEST:
            raise InvalidRequest(
                "a number is beyond ±(2^53−1)", pointer=pointer, fault="number_out_of_range"
            )
    elif not isinstance(value, str | bool | NoneType):
        raise InvalidRequest("is nothing that JSON knows", pointer=pointer, fault="wrong_type")
