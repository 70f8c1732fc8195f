"""Request and response schemas of the HTTP API. Strict: nothing is coerced."""
