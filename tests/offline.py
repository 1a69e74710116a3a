"""`python -m tests.offline COMMAND`: manage.py in production, without a database."""

import os
import sys
import warnings

from django.core.management import execute_from_command_line

ANYTHING = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def pretend() -> None:
    """A complete production environment that leads nowhere: nothing listens on port 1."""
    os.environ["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/nothing"
    os.environ["STIGMER_ENV"] = "production"
    os.environ["STIGMER_HOSTS"] = "stigmer.example"
    os.environ["SECRET_KEY"] = ANYTHING
    os.environ["STIGMER_SEAL_KEYS"] = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


def main(arguments: list[str]) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "stigmer.settings"
    pretend()
    warnings.filterwarnings("ignore", "Got an error checking a consistent migration history")
    execute_from_command_line(["manage.py", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
