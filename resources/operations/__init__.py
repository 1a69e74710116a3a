"""Every write of documents, versions and what bootstrap remembers."""
