"""Django's PostgreSQL backend with two things on the path of every request made cheap."""
