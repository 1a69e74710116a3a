"""Secrets of every family, made from parts so that this file holds none."""

import base64
import json
import random
import string

_random = random.Random(5)
ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "_-"
HEX = "0123456789abcdef"


def some(length, alphabet=ALNUM):
    return "".join(_random.choices(alphabet, k=length))


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def pem(label):
    return f"-----BEGIN {label}-----\n{some(64)}\n{some(64)}\n-----END {label}-----"


GITHUB, GITLAB, SLACK, STRIPE = "GitHub token", "GitLab token", "Slack token", "Stripe key"
OPENAI, PRIVATE, IBM = "OpenAI key", "private key", "IBM Cloud credentials"
URL = "basic-auth credentials in a URL"
UPPER = string.ascii_uppercase + string.digits

POSITIVES = [
    *((GITHUB, f"gh{kind}" + "_" + some(36)) for kind in "pousr"),
    (GITHUB, "github" + "_pat_" + some(22) + "_" + some(59)),
    *(
        (GITLAB, f"gl{kind}" + "-" + some(20, URL_SAFE))
        for kind in ("pat", "dt", "ft", "soat", "rt")
    ),
    (GITLAB, "gl" + "pat-" + some(60)),
    (GITLAB, "GR13" + "48941" + some(20)),
    (GITLAB, "gl" + "cbt-64_" + some(20)),
    (GITLAB, "gl" + "imt-" + some(25)),
    (GITLAB, "gl" + "ptt-" + some(40, HEX)),
    (GITLAB, "gl" + "agent-" + some(50)),
    (GITLAB, "gl" + "oas-" + some(64, HEX)),
    *(
        ("AWS access key", prefix + some(16, UPPER))
        for prefix in ("AK" + "IA", "AS" + "IA", "A3" + "TX")
    ),
    ("AWS secret access key", "aws_secret" + "_key = '" + some(40, ALNUM + "/+") + "'"),
    ("AWS secret access key", "AWS_SECRET_ACCESS" + "_KEY=" + some(40, ALNUM + "/+")),
    ("AWS session token", "IQoJb3Jp" + "Z2luX2Vj" + some(200, ALNUM + "/+")),
    ("AWS session token", "FwoGZX" + "IvYXdz" + some(200, ALNUM + "/+")),
    ("AWS Bedrock key", "AB" + "SK" + some(128)),
    (
        SLACK,
        "xo" + "xb-" + some(12, string.digits) + "-" + some(12, string.digits) + "-" + some(24),
    ),
    (SLACK, "xo" + "xp-" + some(11, string.digits) + "-" + some(32, HEX)),
    (SLACK, "xo" + "xe.xo" + "xp-1-" + some(140)),
    (SLACK, "xo" + "xd-" + some(60, ALNUM + "%")),
    (
        SLACK,
        "xa" + "pp-1-A0" + some(9, UPPER) + "-" + some(13, string.digits) + "-" + some(64, HEX),
    ),
    (
        "Slack webhook",
        "https://hooks.sl" + "ack.com/services/T0" + some(7) + "/B0" + some(7) + "/" + some(24),
    ),
    (
        "Slack webhook",
        "https://hooks.sl" + "ack.com/workflows/T0" + some(7) + "/A0" + some(7) + "/" + some(18),
    ),
    (
        "Discord webhook",
        "https://discord" + ".com/api/webhooks/" + some(18, string.digits) + "/" + some(68),
    ),
    *((STRIPE, f"{kind}k" + f"_{mode}_" + some(24)) for kind in "sr" for mode in ("live", "test")),
    ("Stripe webhook secret", "wh" + "sec_" + some(32)),
    *(
        (PRIVATE, pem(kind + "PRIVATE " + "KEY" + block))
        for kind, block in [
            ("", ""),
            ("RSA ", ""),
            ("EC ", ""),
            ("DSA ", ""),
            ("OPENSSH ", ""),
            ("ENCRYPTED ", ""),
            ("SSH2 ENCRYPTED ", ""),
            ("PGP ", " BLOCK"),
        ]
    ),
    (PRIVATE, "PuTTY-User-" + "Key-File-3: ssh-ed25519"),
    ("age secret key", "AGE-SECRET" + "-KEY-1" + some(58, UPPER)),
    (
        "JSON Web Token",
        part({"alg": "HS256", "typ": "JWT"}) + "." + part({"sub": "1"}) + "." + some(43),
    ),
    ("JSON Web Token", part({"alg": "none"}) + "." + part([1]) + "."),
    (URL, "https://" + "deploy:" + some(12) + "@git.example.com/a.git"),
    (URL, "postgres://" + "app:" + "p$a!s" + some(6) + "@db/app"),
    (URL, "redis://" + ":" + some(16) + "@cache:6379/0"),
    (OPENAI, "sk" + "-" + some(20) + "T3Blbk" + "FJ" + some(20)),
    (OPENAI, "sk" + "-proj-" + some(74, URL_SAFE) + "T3Blbk" + "FJ" + some(74, URL_SAFE)),
    (OPENAI, "sk" + "-svcacct-" + some(60)),
    (OPENAI, "sk" + "-or-v1-" + some(64, HEX)),
    ("Anthropic key", "sk" + "-ant-api03-" + some(93, URL_SAFE) + "AA"),
    ("Google API key", "AI" + "za" + some(35, URL_SAFE)),
    ("Google OAuth secret", "GOC" + "SPX-" + some(28)),
    ("Google access token", "ya" + "29.a0" + some(120)),
    ("Hugging Face token", "h" + "f_" + some(34, string.ascii_letters)),
    ("Hugging Face token", "api" + "_org_" + some(34, string.ascii_letters)),
    ("npm token", "np" + "m_" + some(36)),
    (
        "npm token",
        "//registry.npmjs.org/:_auth" + "Token=" + "0f8a1c2e-1b2c-4d5e-8f90-a1b2c3d4e5f6",
    ),
    ("PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + some(120, URL_SAFE)),
    ("DigitalOcean token", "do" + "p_v1_" + some(64, HEX)),
    ("Databricks token", "da" + "pi" + some(32, HEX)),
    ("Grafana token", "gl" + "sa_" + some(32) + "_" + some(8, HEX)),
    ("Grafana token", "gl" + "c_" + some(60)),
    ("Grafana token", "eyJr" + "Ijoi" + some(80)),
    ("SendGrid key", "S" + "G." + some(22) + "." + some(43)),
    ("Square secret", "sq0" + "csp-" + some(43)),
    ("Square secret", "sq0" + "atp-" + some(22)),
    ("Azure storage key", "Account" + "Key=" + some(86) + "=="),
    ("Azure shared key", "SharedAccess" + "Key=" + some(43) + "="),
    ("Azure client secret", some(3) + "8" + "Q~" + some(34)),
    ("Mailchimp key", some(32, HEX) + "-" + "us12"),
    ("Telegram bot token", some(10, "123456789") + ":" + "AA" + some(33, URL_SAFE)),
    ("Discord bot token", "M" + some(23) + "." + some(6) + "." + some(27)),
    ("Twilio key", "A" + "C" + some(32, HEX)),
    ("Twilio key", "S" + "K" + some(32, HEX)),
    (IBM, "ibm_cloud_api" + "_key = " + some(44)),
    (IBM, "cos_secret_access" + "_key: " + some(48, HEX)),
    (IBM, "softlayer_api" + "_key='" + some(64, HEX) + "'"),
    (IBM, "cloudant_pass" + "word       =       " + some(24, string.ascii_lowercase)),
    (IBM, "https://api.soft" + "layer.com/soap/v3/" + some(64, HEX)),
    ("HashiCorp Vault token", "hv" + "s." + some(24)),
    ("Terraform token", some(14) + ".atlas" + "v1." + some(67)),
    ("Docker Hub token", "dckr" + "_pat_" + some(27, URL_SAFE)),
    ("Atlassian token", "ATATT3x" + "FfGF0" + some(180)),
    ("Linear key", "lin" + "_api_" + some(40)),
    ("Notion token", "nt" + "n_" + some(46)),
    ("Shopify token", "shp" + "at_" + some(32, HEX)),
    ("Postman key", "PM" + "AK-" + some(24, HEX) + "-" + some(34, HEX)),
    ("New Relic key", "NR" + "AK-" + some(27, UPPER)),
    ("Sentry token", "sntr" + "yu_" + some(64, HEX)),
    ("Supabase key", "sb" + "p_" + some(40, HEX)),
    ("Tailscale key", "ts" + "key-auth-" + some(12) + "-" + some(32)),
    ("Groq key", "gs" + "k_" + some(52)),
    ("xAI key", "xa" + "i-" + some(80)),
    ("Perplexity key", "pp" + "lx-" + some(48)),
    ("Replicate token", "r" + "8_" + some(37)),
    ("LangSmith key", "lsv" + "2_pt_" + some(32, HEX) + "_" + some(10, HEX)),
    ("RubyGems key", "ruby" + "gems_" + some(48, HEX)),
    ("Pulumi token", "pu" + "l-" + some(40, HEX)),
    ("Airtable token", "pa" + "t" + some(14) + "." + some(64, HEX)),
    ("Brevo key", "xkey" + "sib-" + some(64, HEX) + "-" + some(16)),
    ("stigmer API token", "stig" + "mer_" + some(43, URL_SAFE)),
    ("stigmer API token", "stig" + "mer_" + some(43, "abc_")),
    ("stigmer claim token", "x" + "c_" + some(43, URL_SAFE)),
]

# What a secret may stand in. The first two are for every kind, the others for a bare token.
AROUND = [
    "{}",
    "Hi,\r\nplease use this one:\r\n{}\r\nand tell me when it works.\r\n",
    "x" * 5000 + " and then\n\n\t{} # pragma: allowlist secret",
    "Use {} for the deploy, and rotate it on Monday.",
    'curl -H "Authorization: Bearer {}" https://api.example.com/v1',
    "TOKEN={}",
    "`{}`",
    "({})",
    "令牌是{}。请保密",
    "токен:{}, срочно",
]
