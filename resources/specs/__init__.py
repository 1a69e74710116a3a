"""What a document may hold: its metadata and, kind by kind, its spec."""
