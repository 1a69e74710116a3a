"""Tests of entity tags."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from stigmer.http.etags import etag_of, holds, unchanged, wanted

CONTENT = b'{"a":1}'
TAG = etag_of(CONTENT)
OTHER = etag_of(b"")


def test_a_tag_is_a_digest_of_every_byte() -> None:
    assert etag_of(CONTENT) == TAG
    assert etag_of(CONTENT + b" ") != TAG
    assert TAG[0] == TAG[-1] == '"'


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        (None, True), (TAG, True), ("*", True), (f"{OTHER}, {TAG}", True), (OTHER, False),
        (f"W/{TAG}", False), (TAG.strip('"'), False), ("", False), ("garbage", False),
    ],
)  # fmt: skip
def test_if_match_compares_strongly(header: str | None, allowed: bool) -> None:
    headers = {} if header is None else {"If-Match": header}

    tags = wanted(RequestFactory().get("/", headers=headers))

    assert holds(tags, CONTENT) is allowed


@pytest.mark.parametrize(
    ("header", "same"),
    [
        (None, False), (TAG, True), ("*", True), (f"W/{TAG}", True), (f"{OTHER},{TAG}", True),
        (OTHER, False), ("garbage", False),
    ],
)  # fmt: skip
def test_if_none_match_compares_weakly(header: str | None, same: bool) -> None:
    headers = {} if header is None else {"If-None-Match": header}

    assert unchanged(RequestFactory().get("/", headers=headers), TAG) is same
