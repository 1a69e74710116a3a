"""The HTTP API of work items."""
