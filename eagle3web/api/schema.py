"""What openapi.json says beyond what each operation declares: the failures that any of them can answer."""

from typing import Any

REFUSALS = {
    401: "Nobody is signed in, or the token is unknown.",
    403: "The caller may not do this.",
    422: "A parameter or a field is unknown, missing or impossible; `errors` says which.",
    429: "Too many requests; Retry-After says in how many seconds the next one is taken.",
    503: "The database does not answer; nothing was changed.",
}
"""Of every operation."""
NOT_THERE = {404: "There is nothing of this name or number, in the address or in the body."}
BAD_BODY = {400: "The body is no JSON.", 409: "It does not fit what stands now.", 413: "The body is too large."}
CHANGES = ("post", "patch")
PROBLEM = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def add_failures(schema: dict[str, Any]) -> None:
    """Add the failures to every operation; what an operation says of a status itself stays."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            failures = (
                REFUSALS | (NOT_THERE if "{" in path or method in CHANGES else {}) | (BAD_BODY if method in CHANGES else {})
            )
            responses: dict[int, Any] = operation["responses"]
            for status, text in failures.items():
                responses.setdefault(status, {"description": text, "content": PROBLEM})
