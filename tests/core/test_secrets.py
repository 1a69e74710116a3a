"""Secrets in text: which are found, which ordinary texts pass, and what a refusal says."""

import hashlib
import inspect
import pkgutil
import re
import time
from importlib import import_module
from pathlib import Path

import detect_secrets.plugins
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stigmer.core.errors import Invalid
from stigmer.core.ids import new_id
from stigmer.core.secrets import SecretInText, find_secret, find_secret_in, refuse_secrets, refusing
from stigmer.core.secrets.families import FAMILY_RULES
from stigmer.core.secrets.plugins import PLUGIN_RULES, fold
from tests.core.secret_corpus import AROUND, GITHUB, POSITIVES

ORDINARY = (Path(__file__).parent / "data/ordinary_texts.txt").read_text("utf-8").splitlines()
TOKEN = dict(POSITIVES)[GITHUB]
LEFT_OUT = {"artifactory", "high_entropy_strings", "ip_public", "keyword", "base"}


def token_plugins():
    for module in pkgutil.iter_modules(detect_secrets.plugins.__path__):
        if module.name not in LEFT_OUT:
            loaded = import_module(f"detect_secrets.plugins.{module.name}")
            for _, plugin in inspect.getmembers(loaded, inspect.isclass):
                if plugin.__module__ == loaded.__name__:
                    yield plugin()


PLUGINS = list(token_plugins())


def plugins_find(text):
    """What detect-secrets' plugins say, called plainly on every line."""
    return any(list(plugin.analyze_string(line)) for plugin in PLUGINS for line in text.split("\n"))


def unprobed(text):
    return [rule.kind for rule in FAMILY_RULES + PLUGIN_RULES if rule.search(text, fold(text))]


def test_the_corpus_is_large_enough():
    assert len({kind for kind, _ in POSITIVES}) >= 30
    assert len(set(ORDINARY)) >= 200


def test_every_family_has_a_positive():
    assert {rule.kind for rule in FAMILY_RULES + PLUGIN_RULES} == {kind for kind, _ in POSITIVES}


@pytest.mark.parametrize("rule", FAMILY_RULES + PLUGIN_RULES, ids=lambda rule: rule.probes[0])
def test_every_rule_finds_something(rule):
    assert any(rule.search(secret, fold(secret)) for _, secret in POSITIVES)


@pytest.mark.parametrize(("kind", "secret"), POSITIVES)
@pytest.mark.parametrize("around", AROUND)
def test_finds_a_secret_wherever_it_stands(around, kind, secret):
    assert find_secret(around.format(secret)) == kind


@pytest.mark.parametrize(("kind", "secret"), POSITIVES)
def test_finds_a_secret_in_keys_and_nested_values(kind, secret):
    assert find_secret_in({"steps": [{"with": ["a", {"b": secret}]}, None, 3, True]}) == kind
    assert find_secret_in({"a": {"b": [{secret: 1}]}}) == kind
    assert find_secret_in(("a", secret)) == kind


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_passes(text):
    assert find_secret(text) is None
    assert find_secret(text.upper()) is None
    assert find_secret_in({text: [text, {"note": text}]}) is None


@pytest.mark.parametrize("end", ["\n", "\r\n", " "])
def test_ordinary_texts_pass_together(end):
    assert find_secret(end.join(ORDINARY)) is None
    assert find_secret_in({"lines": ORDINARY, **dict.fromkeys(ORDINARY)}) is None


@given(
    st.uuids(), st.binary(max_size=64), st.sampled_from(["wi", "prn", "xr", "wfe", "aex", "tok"])
)
def test_identifiers_and_digests_pass(uuid, data, prefix):
    digests = [hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")]
    text = f"{uuid} {uuid.hex} {new_id(prefix)} key: {uuid} token={new_id(prefix)} {digests}"

    assert find_secret(text) is None


@pytest.mark.parametrize("value", ["", None, 0, 1.5, True, [], {}, [[]], {"a": None}, "\x00"])
def test_nothing_holds_no_secret(value):
    assert find_secret_in(value) is None


def test_a_secret_is_not_put_together_from_two_strings():
    half, rest = TOKEN[:20], TOKEN[20:]

    assert find_secret_in([half, rest]) is None
    assert find_secret_in([rest, half]) is None
    assert find_secret_in({half: rest}) is None


def test_a_deep_value_is_scanned_to_its_end():
    value = [TOKEN]
    for _ in range(5000):
        value = [value]

    assert find_secret_in(value) == GITHUB


fragments = st.sampled_from(
    [secret[start:end] for _, secret in POSITIVES for start, end in [(0, None), (0, 20), (5, None)]]
    + [probe for probe, _ in refusing._RULES]
    + [" ", "\n", "\r\n", ":", ".", "=", "'", '"', "  =    ", "1", "aws", "key", "M" * 26, "a" * 40]
    + [
        "\u017fecret_key = " + "a0" * 24,
        "\u0130bm_key=" + "a-" * 22,
        "日本",
        "12345678:",
        "xoxb-1-a",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(fragments | st.text(max_size=5), max_size=8).map("".join))
@example("xoxb-1-a")
@example("XOXO-1-A")
@example("ibm_\u212aey = " + "a-" * 22)
@example("\u017foftlayer_key = " + "a0" * 32)
def test_no_probe_and_no_rewriting_hides_what_the_plugins_find(text):
    found = find_secret(text)

    assert (found is not None) == bool(unprobed(text))
    if plugins_find(text):
        assert found


@pytest.mark.parametrize(("kind", "secret"), POSITIVES)
def test_the_probes_agree_with_the_rules_on_the_corpus(kind, secret):
    for around in AROUND:
        text = around.format(secret)

        assert kind in unprobed(text)
        assert find_secret(text) in unprobed(text)


def test_every_plugin_is_used_or_left_out_on_purpose():
    names = {plugin.__class__.__module__.rpartition(".")[2] for plugin in PLUGINS}
    source = inspect.getsource(import_module("stigmer.core.secrets.plugins"))
    rewritten = {"discord", "mailchimp", "npm", "openai", "telegram_token"}
    expressions = sorted(e.pattern for plugin in PLUGINS for e in plugin.denylist)
    digest = hashlib.sha256("\n".join(expressions).encode()).hexdigest()

    assert {name for name in names if re.search(rf"\b{name}\.\w", source)} == names - rewritten
    # Another digest: another detect-secrets. What is new, and are the rewritings still right?
    assert digest.startswith("abc23feb5eec5019")


def test_folding_keeps_the_length_and_takes_in_what_ignoring_case_does():
    for code in range(0x80, 0x110000):
        letter = chr(code)
        folded = fold(letter)

        assert len(folded) == 1
        if re.fullmatch("[a-z]", letter, re.IGNORECASE):
            assert re.fullmatch("[a-z]", folded)


@pytest.mark.parametrize(
    "unit",
    [probe for probe, _ in refusing._RULES if probe]
    + [
        "key ",
        "key:",
        "key  [",
        "eyJ",
        "eyJ.",
        "a.eyJhIjoxfQ",
        "://a:",
        "//",
        "/:_authToken=  ",
        "sk-",
    ]
    + ["T3BlbkFJ", "1", "12345678:", "MNO", ".", " ", "a", "A", "\n", "日", "a=", "BEGIN A ", "AC"]
    + [
        "glagent-" + "a" * 49 + " ",
        "'" + "a" * 40,
        "aws key 'awskeyawskeyawskeyawskeyawskeyawskeyawsk",
    ]
    + [
        "xkey=" + "a1-" * 14 + "zz ",
        "xoxb-1-",
        "xapp-1-aaaaaaa-1111111-",
        "tskey-api-a",
        "key" + " " * 9999,
    ],
)
def test_time_grows_with_a_hostile_text_and_not_with_its_square(unit):
    texts = [(unit * (262_144 // len(unit))) + "\x01", (unit.upper() * (262_144 // len(unit)))]

    start = time.process_time()
    for text in texts:
        find_secret(text)

    # A tenth of this is usual. One expression that starts over at every repetition takes a minute.
    assert time.process_time() - start < 4


def test_json_nested_to_hide_is_refused():
    token = "eyJh" + "IjoxfQ." + "W1tb" * 20_000

    assert find_secret(token) == "JSON Web Token"


def test_a_refusal_names_the_field_and_the_kind_and_never_the_value():
    with pytest.raises(SecretInText) as refused:
        refuse_secrets(title="Rotate", external_key=None, text=f"use {TOKEN}", params={"a": TOKEN})

    refusal = refused.value
    assert isinstance(refusal, Invalid)
    assert refusal.code == "secret_in_text"
    assert refusal.title() == "The text contains a secret"
    assert refusal.detail == "text contains a secret: GitHub token"
    assert refusal.facts == {"field": "text", "kind": "GitHub token"}
    assert TOKEN not in repr((refusal, refusal.args, refusal.facts))


def test_a_refusal_names_the_first_field_in_order():
    with pytest.raises(SecretInText, match=r"^params contains"):
        refuse_secrets(title="T", params={TOKEN: []}, reason=TOKEN)


def test_fields_without_a_secret_pass():
    refuse_secrets(title="Rotate the key", text=None, params={"a": [1, "b"]}, reason="")
    refuse_secrets()
