"""The project: settings, processes and everything that knows no business nouns."""
