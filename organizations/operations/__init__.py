"""Every write of principals, tokens, organizations, memberships and slugs."""
