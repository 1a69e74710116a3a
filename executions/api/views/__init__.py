"""The routes of executions: typed body in, one domain call, plain data out."""
