"""The API and the console as a WSGI application."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from stigmer import embedded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stigmer.settings")

if settings.STIGMER_EMBEDDED:
    embedded.hold(settings.STIGMER_HOME)
application = get_wsgi_application()
