"""The HTTP toolkit: typed doors, problems, pages, schema."""
