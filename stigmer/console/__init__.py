"""The console: the admin site and its base classes."""
