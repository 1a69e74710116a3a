#!/usr/bin/env python
"""Django's command line; without DATABASE_URL the embedded PostgreSQL runs while it does."""

import os
import sys

# These look at no data.
WITHOUT_DATABASE = {"--help", "--version", "-h", "check", "collectstatic", "help", "spectacular"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stigmer.settings")

    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from stigmer import embedded

    try:
        embedded_database = settings.STIGMER_EMBEDDED
    except ImproperlyConfigured as fault:
        sys.exit(str(fault))
    words = set(sys.argv[1:2]) | ({"--help"} & set(sys.argv))
    if words and not words & WITHOUT_DATABASE and embedded_database:
        embedded.hold(settings.STIGMER_HOME)
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
