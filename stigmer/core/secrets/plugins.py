"""detect-secrets' token plugins, each behind what its every match contains."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from detect_secrets.plugins import (
    aws,
    azure_storage_key,
    basic_auth,
    cloudant,
    github_token,
    gitlab_token,
    ibm_cloud_iam,
    ibm_cos_hmac,
    jwt,
    private_key,
    pypi_token,
    sendgrid,
    slack,
    softlayer,
    square_oauth,
    stripe,
    twilio,
)

# Looks at the text and at its folded form (`fold`); its answer is true when there is a secret.
Search = Callable[[str, str], object]


class Rule(NamedTuple):
    """A secret's kind, what its folded text contains at least one of, and the search itself.

    An empty probe is in every text.
    """

    kind: str
    probes: tuple[str, ...]
    search: Search


def fold(text: str) -> str:
    """Lower case of the same length, with the letters that re.IGNORECASE takes for ASCII ones."""
    if not text.isascii():
        text = text.replace("\u0130", "i").replace("\u0131", "i").replace("\u017f", "s")
    return text.lower()


def as_it_is(plugin: Any) -> Search:
    """The plugin's own expressions, over all lines at once: none of these crosses a line."""
    searches = [expression.search for expression in plugin.denylist]
    return lambda text, _folded: any(search(text) for search in searches)


# The expressions below answer as the plugins' own do, in time that grows with the text and not
# with its square: the plugins start over inside what they have just read.
_AWS_ID = aws.AWSKeyDetector.denylist[0].search
_QUOTED_40 = re.compile(r"['\"][0-9a-z/+]{40}(?=['\"])").finditer
_AWS_NAMED = re.compile(r"aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?\Z").search
_DISCORD = re.compile(
    r"\.(?:(?<=[MNO][a-zA-Z\d_-]{23}\.)|(?<=[MNO][a-zA-Z\d_-]{24}\.)|(?<=[MNO][a-zA-Z\d_-]{25}\.))"
    r"[a-zA-Z\d_-]{6}\.[a-zA-Z\d_-]{27}"
).search
_MAILCHIMP = re.compile(r"-us(?<=[0-9a-z]{32}-us)[0-9]").search
_NPM = re.compile(r":_authToken=\s*(?:npm_.|[A-Fa-f0-9-]{36})").search
_OPENAI = re.compile(r"T3BlbkFJ(?<=[A-Za-z0-9]{20}T3BlbkFJ)[A-Za-z0-9]{20}").search
_TELEGRAM = re.compile(r":(?<=\d{8}:)[0-9A-Za-z_-]{35}").search

_JWT_SHORTEST = 8  # the base64 of {"":0}
_JWT_HEAD = re.compile(r"(?<![A-Za-z0-9_=-])[A-Za-z0-9_=-]+(?=\.([A-Za-z0-9_=-]+))").finditer


def aws_secret_key(_text: str, folded: str) -> bool:
    """40 quoted characters soon after "aws" and a word such as key (at most 51 characters)."""
    for quoted in _QUOTED_40(folded):
        before = folded[max(0, quoted.start() - 51) : quoted.start()]
        if "aws" in before and _AWS_NAMED(before.rpartition("\n")[2]):
            return True
    return False


def json_web_token(text: str, _folded: str) -> bool:
    """Two parts of base64url JSON with a dot between; the first starts with eyJ, `{"`.

    Two parts that both start so are one without a look inside: it may be cut short, or run on.
    """
    for match in _JWT_HEAD(text):
        head, claims = match[0], match[1]
        start = head.find("eyJ")
        if start < 0 or len(head) - start < _JWT_SHORTEST:
            continue
        if claims.startswith("eyJ") and len(head) - start >= 10 and len(claims) >= 10:
            return True
        try:
            if jwt.JwtTokenDetector.is_formally_valid(f"{head[start:]}.{claims}"):
                return True
        except RecursionError:  # JSON nested to hide, which no parser will tell
            return True
    return False


_ASSIGNED = [
    as_it_is(plugin)
    for plugin in (
        ibm_cloud_iam.IbmCloudIamDetector,
        ibm_cos_hmac.IbmCosHmacDetector,
        cloudant.CloudantDetector,
        softlayer.SoftlayerDetector,
    )
]
_NOT_ASCII = re.compile(r"[^\x00-\x7f]").sub
_SPACES = re.compile(r" {3,}").sub
_ASSIGNMENT = re.compile(
    r"(?:key|pwd|pw|password|pass|token)[\"']?\]? *(?:=|:|:=|=>| +|::) *[\"']?"
    r"(?:[0-9a-z_-]{44}(?![0-9a-z_-])|[0-9a-f]{48}(?![0-9a-f])|[0-9a-z]{64}|[a-z]{24})"
).search


def ibm_credentials(_text: str, folded: str) -> bool:
    """A long value assigned to a name that ends in key, password, token, …

    Three spaces are as good as two to these expressions, and a thousand would take them a
    thousand times a thousand steps.
    """
    if not any(word in folded for word in ("key", "pw", "pass", "token")):
        return False
    if "   " in folded:
        folded = _SPACES("  ", folded)
    if not folded.isascii():  # these expect a name to start after something that is no letter
        folded = _NOT_ASCII(".", folded)
    return bool(_ASSIGNMENT(folded) and any(search(folded, folded) for search in _ASSIGNED))


PLUGIN_RULES = (
    Rule(
        "private key",
        ("private key", "putty-user-key-file-2"),
        as_it_is(private_key.PrivateKeyDetector),
    ),
    Rule(
        "GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        as_it_is(github_token.GitHubTokenDetector),
    ),
    Rule(
        "GitLab token",
        (
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "gr1348941",
            "glcbt-",
            "glimt-",
            "glptt-",
            "glagent-",
            "gloas-",
        ),
        as_it_is(gitlab_token.GitLabTokenDetector),
    ),
    Rule("AWS access key", ("a3t", "abia", "acca", "akia", "asia"), lambda text, _: _AWS_ID(text)),
    Rule("AWS secret access key", ("aws",), aws_secret_key),
    Rule("Slack token", ("xox", "hooks.slack.com/services/t"), as_it_is(slack.SlackDetector)),
    Rule("Stripe key", ("k_live_",), as_it_is(stripe.StripeDetector)),
    Rule("JSON Web Token", ("eyj",), json_web_token),
    Rule("basic-auth credentials in a URL", ("://",), as_it_is(basic_auth.BasicAuthDetector)),
    Rule("OpenAI key", ("t3blbkfj",), lambda text, _: _OPENAI(text)),
    Rule("npm token", (":_authtoken=",), lambda text, _: _NPM(text)),
    Rule("PyPI token", ("pypi-age",), as_it_is(pypi_token.PypiTokenDetector)),
    Rule("SendGrid key", ("sg.",), as_it_is(sendgrid.SendGridDetector)),
    Rule("Square secret", ("sq0csp-",), as_it_is(square_oauth.SquareOAuthDetector)),
    Rule(
        "Azure storage key", ("accountkey=",), as_it_is(azure_storage_key.AzureStorageKeyDetector)
    ),
    Rule("Mailchimp key", ("-us",), lambda text, _: _MAILCHIMP(text)),
    Rule("Telegram bot token", (":",), lambda text, _: _TELEGRAM(text)),
    Rule("Discord bot token", (".",), lambda text, _: _DISCORD(text)),
    Rule("Twilio key", ("ac", "sk"), as_it_is(twilio.TwilioKeyDetector)),
    Rule("IBM Cloud credentials", ("softlayer",), as_it_is(softlayer.SoftlayerDetector)),
    Rule("IBM Cloud credentials", ("",), ibm_credentials),
)
