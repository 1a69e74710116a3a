"""Bodies, queries and answers of executions."""
