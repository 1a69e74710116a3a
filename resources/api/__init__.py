"""The HTTP door of resources."""
