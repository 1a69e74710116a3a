"""Secret families that detect-secrets lacks, or knows only in part."""

from __future__ import annotations

import re

from stigmer.core.secrets.plugins import Rule, Search

# A word that ends in the prefix (task_, shelf_) is no token.
_ALONE = r"(?<![A-Za-z0-9])"
# Of 43 random characters of base64url, letters of both cases are there; a long snake_case name
# has one case. Exactly 43 of any are taken for a token all the same.
_RANDOM_43 = (
    r"(?:(?=[a-z0-9_-]{0,42}[A-Z])(?=[A-Z0-9_-]{0,42}[a-z])[A-Za-z0-9_-]{43}"
    r"|[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-]))"
)

# Kind, what every match contains (lower case), expression. Every expression takes time in
# proportion to the text: fixed counts, and nothing repeated before its literal.
_FAMILIES = (
    ("stigmer API token", "stigmer_", _ALONE + "stigmer_" + _RANDOM_43),
    ("stigmer claim token", "xc_", _ALONE + "xc_" + _RANDOM_43),
    ("GitHub token", "github_pat_", r"github_pat_(?:[A-Za-z0-9]{22}_[A-Za-z0-9]{20}|\w{60})"),
    ("GitLab token", "gl", r"gl(?:pat|dt|ft|soat|rt|rtr|cbt|imt|ptt|agent|oas|ffct|wt)-[\w-]{20}"),
    ("Anthropic key", "sk-ant-", r"sk-ant-(?:[a-z]+[0-9]{2}-[\w-]{24}|[\w-]{32})"),
    ("OpenAI key", "sk-", _ALONE + r"sk-(?:proj|svcacct|admin|None)-[\w-]{20}"),
    ("OpenAI key", "sk-", _ALONE + r"sk-(?:or-v1-)?[A-Za-z0-9]{32}"),
    ("Google API key", "aiza", r"AIza[\w-]{35}"),
    ("Google OAuth secret", "gocspx-", r"GOCSPX-[\w-]{28}"),
    ("Google access token", "ya29.", _ALONE + r"ya29\.[\w-]{30}"),
    ("Hugging Face token", "hf_", _ALONE + r"hf_[A-Za-z0-9]{30}"),
    ("Hugging Face token", "api_org_", _ALONE + r"api_org_[A-Za-z0-9]{30}"),
    ("npm token", "npm_", _ALONE + r"npm_[A-Za-z0-9]{36}"),
    ("PyPI token", "pypi-age", r"pypi-AgE[\w-]{32}"),
    ("DigitalOcean token", "_v1_", r"do[oprt]_v1_[a-f0-9]{64}"),
    ("Databricks token", "dapi", r"dapi[a-f0-9]{32}"),
    ("Grafana token", "glc_", _ALONE + r"glc_[A-Za-z0-9+/]{32}"),
    ("Grafana token", "glsa_", _ALONE + r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    ("Grafana token", "eyjrijoi", r"eyJrIjoi[A-Za-z0-9+/]{60}"),
    ("Slack token", "xox", r"xox[abceprs](?:\.xox[abp])?-[0-9][0-9A-Za-z%/+-]{12}"),
    ("Slack token", "xoxd-", r"xoxd-[0-9A-Za-z%/+]{40}"),
    ("Slack token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9]{6,}-[0-9]{6,}-[A-Za-z0-9]{16}"),
    ("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/services/T\w{2,16}/B\w{2,16}/\w{8}"),
    ("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:workflows|triggers)/[\w/]{24}"),
    (
        "Discord webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/[0-9]{10,24}/[\w-]{40}",
    ),
    ("Stripe key", "k_", _ALONE + r"[sr]k_(?:test|live)_[0-9A-Za-z]{16}"),
    ("Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24}"),
    ("Square secret", "sq0atp-", r"sq0atp-[\w-]{22}"),
    ("private key", "private key", r"BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY"),
    ("private key", "putty-user-key-file-", r"PuTTY-User-Key-File-[0-9]"),
    ("age secret key", "age-secret-key-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50}"),
    ("AWS session token", "fwogzxivyxdz", r"FwoGZXIvYXdz[A-Za-z0-9/+]{40}"),
    ("AWS session token", "iqojb3jpz2lux2vj", r"IQoJb3JpZ2luX2Vj[A-Za-z0-9/+]{40}"),
    ("AWS Bedrock key", "absk", r"ABSK[A-Za-z0-9+/]{100}"),
    ("Azure shared key", "sharedaccesskey=", r"SharedAccessKey=[A-Za-z0-9+/]{43}"),
    ("Azure client secret", "q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31}"),
    ("HashiCorp Vault token", "hv", _ALONE + r"hv[sb]\.[\w-]{24}"),
    ("Terraform token", ".atlasv1.", r"\.atlasv1\.[\w=-]{60}"),
    ("Docker Hub token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{27}"),
    ("Atlassian token", "atatt3xffgf0", r"ATATT3xFfGF0[\w=-]{32}"),
    ("Linear key", "lin_api_", _ALONE + r"lin_api_[A-Za-z0-9]{32}"),
    ("Notion token", "ntn_", _ALONE + r"ntn_[A-Za-z0-9]{40}"),
    ("Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("Postman key", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("New Relic key", "nrak-", r"NRAK-[A-Z0-9]{27}"),
    ("Sentry token", "sntry", r"sntry(?:s_eyJ[\w+/=-]{32}|u_[a-f0-9]{64})"),
    ("Supabase key", "sb", _ALONE + r"(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20})"),
    ("Tailscale key", "tskey-", r"tskey-[a-z]{3,12}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16}"),
    ("Groq key", "gsk_", _ALONE + r"gsk_[A-Za-z0-9]{40}"),
    ("xAI key", "xai-", _ALONE + r"xai-[A-Za-z0-9]{60}"),
    ("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40}"),
    ("Replicate token", "r8_", _ALONE + r"r8_[A-Za-z0-9]{37}"),
    ("LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}"),
    ("RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    ("Pulumi token", "pul-", _ALONE + r"pul-[a-f0-9]{40}"),
    ("Airtable token", "pat", _ALONE + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("Brevo key", "xkeysib-", r"xkeysib-[a-f0-9]{64}"),
    # A user may be missing (redis://:password@host) and a password may hold what RFC 3986 would
    # have escaped; a port before a comma, and a variable ($PASSWORD) are no password.
    (
        "basic-auth credentials in a URL",
        "://",
        r"://[^\s/?#@:]*:(?![0-9]{1,5}[,;&])(?!\$\w+@)[^\s/?#@\"'<>()\[\]{}`]+@",
    ),
)

# Names are written in any case.
_NAMED_FAMILIES = (
    (
        "AWS secret access key",
        "aws",
        r"aws_?secret_?(?:access_?)?key[\"' \t]{0,4}[=:]>?[\"' \t]{0,4}[0-9a-z/+]{40}(?![\w/+])",
    ),
    ("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/services/t\w{2,16}/b\w{2,16}/\w{8}"),
)


def _cased(expression: str) -> Search:
    search = re.compile(expression, re.ASCII).search
    return lambda text, _folded: search(text)


def _folded(expression: str) -> Search:
    search = re.compile(expression, re.ASCII).search
    return lambda _text, folded: search(folded)


FAMILY_RULES = (
    *(Rule(kind, (probe,), _cased(expression)) for kind, probe, expression in _FAMILIES),
    *(Rule(kind, (probe,), _folded(expression)) for kind, probe, expression in _NAMED_FAMILIES),
)
