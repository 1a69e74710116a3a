"""What every app stands on and no business noun enters."""
