"""Organizations: principals, memberships, tokens and the slug ledger."""
