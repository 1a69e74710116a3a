"""Canonical JSON and the digest of a request."""

import hashlib
import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from stigmer.core import canonical as module
from stigmer.core.canonical import LARGEST, canonical, request_hash

characters = st.characters(exclude_categories=["Cs"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(characters)
)
# Half of the keys share a first letter, so that order is decided late in the key as well.
keys = st.text(characters) | st.text('ab\ue000\U0001f600é\x00"\\')
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.text(characters),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(values)
def test_is_what_the_reference_writes(value):
    assert canonical(value) == rfc8785.dumps(value)


@given(plain)
def test_the_short_way_is_what_the_reference_writes(value):
    assert module._is_plain(value)

    assert module._encode_plain(value).encode() == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [1.0, [0.5], {"é": 1}, {1: 2}, LARGEST + 1, object(), "a".encode])
def test_takes_the_long_way_for_what_is_not_plain(value):
    assert not module._is_plain(value)


@given(plain)
def test_reads_back_as_the_same_value(value):
    assert json.loads(canonical(value)) == value


def test_orders_keys_by_utf16_units():
    value = {"\U0001f600": 1, "\ue000": 2, "a": 3}

    assert canonical(value) == '{"a":3,"\U0001f600":1,"\ue000":2}'.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (333333333.33333329, "333333333.3333333"),
        (LARGEST, "9007199254740991"),
        ('\x00\x1f\x7f\u2028/"\\\b\f\n\r\té', '"\\u0000\\u001f\x7f\u2028/\\"\\\\\\b\\f\\n\\r\\té"'),
        ({"b": [True, False, None], "a": {}}, '{"a":{},"b":[true,false,null]}'),
    ],
)
def test_writes_the_form_of_the_rfc(value, text):
    assert canonical(value) == text.encode()


@pytest.mark.parametrize(
    "value",
    [
        LARGEST + 1,
        -LARGEST - 1,
        float("nan"),
        float("inf"),
        "\ud800",
        {"a": ["\udfff"]},
        {"\ud800": 1},
        {1: "one"},
        {None: 1},
        {"when": object()},
        {1, 2},
        b"bytes",
    ],
)
def test_refuses_what_has_no_canonical_form(value):
    with pytest.raises(ValueError):
        canonical(value)


def test_a_boolean_is_no_number():
    assert canonical([True, 1]) == b"[true,1]"


def test_hashes_operation_target_and_body():
    text = b'{"body":{"tenant":"acme","title":"T"},"operation":"create","target":""}'

    digest = request_hash("create", "", {"title": "T", "tenant": "acme"})

    assert digest == hashlib.sha256(text).hexdigest()


@given(st.dictionaries(keys, values, max_size=6), st.randoms())
def test_the_order_of_keys_does_not_change_the_hash(body, random):
    names = list(body)
    random.shuffle(names)

    assert request_hash("o", "t", {name: body[name] for name in names}) == request_hash(
        "o", "t", body
    )


@given(values, values)
def test_two_bodies_share_a_hash_only_if_they_are_one_value(one, other):
    same = request_hash("o", "t", {"v": one}) == request_hash("o", "t", {"v": other})

    assert same == (rfc8785.dumps(one) == rfc8785.dumps(other))


def test_operation_and_target_are_kept_apart():
    digests = {
        request_hash("resume", "wi_1", {}),
        request_hash("resumewi_1", "", {}),
        request_hash("", "resumewi_1", {}),
        request_hash("resume", "wi_2", {}),
        request_hash("transition", "wi_1", {}),
        request_hash("resume", "wi_1", {"a": None}),
    }

    assert len(digests) == 6
