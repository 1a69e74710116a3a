"""The HTTP API of organizations."""
