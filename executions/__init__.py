"""Executions: what ran, what it did, what it cost, and how to talk to it while it runs."""
