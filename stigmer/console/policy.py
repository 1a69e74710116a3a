"""The content security policy of console pages."""

# Alpine evaluates the theme's attributes, which needs `unsafe-eval`; the theme writes its colours
# into a style element and sizes into style attributes, which needs `unsafe-inline` for styles
# alone. No script is inline and nothing comes from another host.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
