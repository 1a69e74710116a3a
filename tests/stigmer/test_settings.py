"""Settings from the environment: what is wrong is named, all of it at once."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

VARIABLES = (
    "DATABASE_URL", "REDIS_URL", "SECRET_KEY", "PORT", "STIGMER_ENV", "STIGMER_HOSTS",
    "STIGMER_SEAL_KEYS", "STIGMER_LIST_READ_SCOPE", "STIGMER_THROTTLE", "STIGMER_TLS",
    "STIGMER_PROXY", "STIGMER_STATEMENT_TIMEOUT",
)  # fmt: skip
SETTINGS = Path(__file__).parent.parent.parent / "stigmer" / "settings.py"
SEAL_KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
PRODUCTION = {
    "DATABASE_URL": "postgresql://amy:p%40ss@db.example:5433/work?sslmode=require",
    "SECRET_KEY": "0123456789" * 5,
    "STIGMER_SEAL_KEYS": SEAL_KEY,
    "STIGMER_HOSTS": "work.example",
}


class Load:
    """`load(NAME=value)` gives the settings of an environment with these variables alone."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.monkeypatch = monkeypatch

    def __call__(self, **variables: str) -> dict[str, Any]:
        for name in VARIABLES:
            self.monkeypatch.delenv(name, raising=False)
        for name, value in ({"STIGMER_HOME": str(self.home)} | variables).items():
            self.monkeypatch.setenv(name, value)
        return runpy.run_path(str(SETTINGS))

    def fault(self, **variables: str) -> str:
        with pytest.raises(ImproperlyConfigured) as caught:
            self(**variables)
        return str(caught.value)


@pytest.fixture
def load(home: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    return Load(home, monkeypatch)


def test_needs_nothing_in_development(load: Load, home: Path) -> None:
    settings = load()

    assert settings["STIGMER_ENV"] == "development"
    assert settings["STIGMER_EMBEDDED"] is True
    assert settings["DATABASES"]["default"]["HOST"].startswith("/")
    assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert settings["CELERY_BROKER_URL"].startswith("stigmer-files:")


def test_keeps_the_keys_it_made_for_their_owner_alone(load: Load, home: Path) -> None:
    first = load()
    second = load()

    assert first["SECRET_KEY"] == second["SECRET_KEY"]
    assert first["STIGMER_SEAL_KEYS"] == second["STIGMER_SEAL_KEYS"]
    for name in ("secret_key", "seal_keys"):
        assert (home / name).stat().st_mode & 0o777 == 0o600


def test_a_database_of_ones_own_means_production(load: Load) -> None:
    settings = load(**PRODUCTION)

    assert settings["STIGMER_ENV"] == "production"
    assert settings["SESSION_COOKIE_SECURE"] is True
    assert settings["ALLOWED_HOSTS"][-1] == "work.example"


def test_production_names_everything_that_is_missing_at_once(load: Load, home: Path) -> None:
    fault = load.fault(DATABASE_URL=PRODUCTION["DATABASE_URL"])

    assert "SECRET_KEY is missing" in fault
    assert "STIGMER_SEAL_KEYS is missing" in fault
    assert "STIGMER_HOSTS is missing" in fault
    assert not home.exists()


def test_reads_every_part_of_a_database_url(load: Load) -> None:
    database = load(**PRODUCTION)["DATABASES"]["default"]

    assert (database["USER"], database["PASSWORD"]) == ("amy", "p@ss")
    assert (database["HOST"], database["PORT"]) == ("db.example", "5433")
    assert database["NAME"] == "work"
    assert database["OPTIONS"]["sslmode"] == "require"


def test_bounds_statements_and_locks(load: Load) -> None:
    options = load(STIGMER_STATEMENT_TIMEOUT="30")["DATABASES"]["default"]["OPTIONS"]

    assert "statement_timeout=30s" in options["options"]
    assert "lock_timeout=5s" in options["options"]
    assert options["server_side_binding"] is True


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DATABASE_URL", "mysql://a@b/c", "DATABASE_URL must start with postgresql://"),
        ("DATABASE_URL", "postgresql://a@b/", "DATABASE_URL names no database"),
        ("DATABASE_URL", "postgresql://a@b:x/c?nothing=1", "DATABASE_URL cannot be read"),
        ("REDIS_URL", "http://a", "REDIS_URL must start with redis://"),
        ("PORT", "eight", "PORT must be a whole number from 1 to 65535, not 'eight'"),
        ("PORT", "70000", "PORT must be a whole number"),
        ("STIGMER_ENV", "staging", "STIGMER_ENV must be one of development, production"),
        ("STIGMER_THROTTLE", "no", "STIGMER_THROTTLE must be one of on, off, not 'no'"),
        ("STIGMER_SEAL_KEYS", "short", "STIGMER_SEAL_KEYS must be 32 bytes each"),
        ("STIGMER_SEAL_KEYS", f"{SEAL_KEY},ü", "STIGMER_SEAL_KEYS must be 32 bytes each"),
        ("SECRET_KEY", "short", "SECRET_KEY must have at least 50 characters"),
        ("STIGMER_HOSTS", "*", "STIGMER_HOSTS must name hosts"),
    ],
)
def test_refuses_and_names_the_variable(load: Load, name: str, value: str, says: str) -> None:
    assert says in load.fault(**(PRODUCTION | {name: value}))


def test_an_empty_list_read_scope_stays_empty(load: Load) -> None:
    name = "STIGMER_LIST_READ_SCOPE"

    assert load(STIGMER_LIST_READ_SCOPE="")[name] == ""
    assert load(STIGMER_LIST_READ_SCOPE="some.Scope")[name] == "some.Scope"


def test_redis_serves_broker_and_cache(load: Load) -> None:
    settings = load(REDIS_URL="redis://cache.example/1")

    assert settings["CELERY_BROKER_URL"] == "redis://cache.example/1"
    assert settings["CACHES"]["default"]["LOCATION"] == "redis://cache.example/1"


def test_a_proxy_is_believed_only_when_there_is_one(load: Load) -> None:
    assert "SECURE_PROXY_SSL_HEADER" not in load(**PRODUCTION)
    assert "SECURE_PROXY_SSL_HEADER" in load(**PRODUCTION, STIGMER_PROXY="on")
