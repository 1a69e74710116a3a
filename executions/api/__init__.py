"""The API of executions."""
