"""Driving the product through its own HTTP API: requests from a file, and a whole day."""
