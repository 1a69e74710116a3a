"""`python -m stigmer.serve`: the web process, everything on one port under uvicorn."""

import uvicorn

from stigmer import settings


def main() -> None:
    uvicorn.run(
        "stigmer.asgi:application",
        host=settings.STIGMER_BIND,
        port=settings.PORT,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=4,
    )


if __name__ == "__main__":
    main()
