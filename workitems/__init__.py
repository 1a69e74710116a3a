"""Work items: the durable owner of the work that somebody asked for."""
