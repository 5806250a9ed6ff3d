"""What a stage sees of this process's environment: all but secrets, which it could write into a log that everybody reads."""

import re
from collections.abc import Mapping

from django.conf import settings

OURS = frozenset({"DATABASE_URL", "REDIS_URL"})
"""What a stage has no business to know, whatever is in it."""
WORDS = frozenset(
    {"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASS", "PGPASSWORD", "CREDENTIAL", "CREDENTIALS", "KEY", "APIKEY", "AUTH"}
)
"""Parts of a name that make its value a secret: HF_TOKEN, WANDB_API_KEY, AWS_SECRET_ACCESS_KEY; not TOKENIZERS_PARALLELISM."""
WITH_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/@\s]*:[^/@\s]+@", re.IGNORECASE)
"""An address with a password in it, such as a proxy's."""
BUCKET = "s3://"
"""Stages that hand their files over by a bucket do it with AWS's own variables, which all begin with AWS_."""


def stage_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Without secrets, but for those that an administrator names in EAGLE3_STAGE_SECRETS because a stage needs them."""
    return {name: value for name, value in environment.items() if not is_secret(name, value)}


def is_secret(name: str, value: str) -> bool:
    """By its name or its value; one that is let through is none."""
    if name in OURS:
        return True
    if name in settings.EAGLE3_STAGE_SECRETS or (name.startswith("AWS_") and settings.EAGLE3_ARTIFACTS.startswith(BUCKET)):
        return False
    return bool(WORDS.intersection(name.upper().split("_"))) or WITH_PASSWORD.search(value) is not None
