"""The reference runner: the runner protocol over HTTP, and a small workflow to watch it with."""
