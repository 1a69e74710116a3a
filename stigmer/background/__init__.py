"""Background work: what runs when, and the proof that it runs."""
