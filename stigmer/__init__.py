"""The project: settings, processes and everything that knows no business nouns."""

import django_stubs_ext

# Lets Django's generic classes be subscripted at run time, as their type stubs declare them.
django_stubs_ext.monkeypatch()
