"""The declarative store: kind-addressed documents with versions, labels and search."""
