"""Everything on one port: the WSGI application behind a2wsgi."""

from a2wsgi import WSGIMiddleware
from django.conf import settings

from stigmer.wsgi import application as wsgi

application = WSGIMiddleware(wsgi, workers=settings.STIGMER_WEB_THREADS)
