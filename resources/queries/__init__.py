"""Every read of documents and versions; the first argument is whose eyes see (`viewer`)."""
