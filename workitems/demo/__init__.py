"""A realistic day on the running product, driven through its HTTP API and judged afterwards."""
