"""Addresses that people may have messages sent to.

A person's address must not make this server talk to machines that the person cannot reach: public services go where their
names say, everything that names its own host needs that host in EAGLE3_NOTIFY_HOSTS, and parameters that would open files or
other hosts are refused. Redirects are not followed.
"""

import logging
from urllib.parse import parse_qsl, unquote, urlsplit

import apprise
from django.conf import settings

URL_LIMIT = 500
PUBLIC = ("slack", "discord", "tgram", "pover", "gchat", "opsgenie", "pagerduty", "wxteams")
"""Schemes of services with one address, which stands in apprise and not in the URL."""
HOSTED = ("json", "jsons", "xml", "xmls", "form", "forms", "mailto", "mailtos", "mmost", "mmosts", "gotify", "gotifys")
"""Schemes whose URL names the host."""
PARAMETERS = frozenset({"to", "from", "name", "cc", "bcc", "format", "method", "user", "pass"})
HEADERS = ("+", " ", "-", ":")
"""Parameters that begin so are headers and fields of a webhook; a plus comes out of a query as a space."""
SECRET_LENGTH = 4
"""Parts of an address that are shorter say nothing, and would riddle every error with dots."""

ASSET = apprise.AppriseAsset(
    app_id="eagle3web",
    app_desc="eagle3web",
    app_url="",
    image_url_mask=None,
    image_url_logo=None,
    http_redirects=False,
    allow_templates=False,
    secure_logging=True,
    async_mode=False,
    storage_mode=apprise.PersistentStoreMode.MEMORY,
)
"""Names no picture that a reader's program would load from elsewhere, and keeps nothing on disk."""


def check_target(url: str) -> apprise.NotifyBase:
    """What sends to the address. Raises ValueError, for a person, when messages must not be sent there."""
    try:
        parts = urlsplit(url)
        parameters = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError as error:
        raise ValueError("This is no address.") from error
    scheme = parts.scheme.lower()
    if scheme not in schemes():
        raise ValueError(f"Messages are sent to these: {', '.join(schemes())}.")
    for name, _value in parameters:
        if name.lower() not in PARAMETERS and not name.startswith(HEADERS):
            raise ValueError(f"The parameter {name[:40]} is not taken; these are: {', '.join(sorted(PARAMETERS))}.")
    with apprise.LogCapture(level=logging.CRITICAL):  # type: ignore[no-untyped-call]
        found = apprise.Apprise.instantiate(url, asset=ASSET)
    if found is None:
        raise ValueError(f"This is no address that {scheme} understands.")
    if scheme in HOSTED and _host(found) not in _allowed(found):
        raise ValueError(f"Nothing is sent to {_host(found)[:100]}: an administrator names hosts in EAGLE3_NOTIFY_HOSTS.")
    return found


def schemes() -> tuple[str, ...]:
    """Those that can be used: without a host that is allowed, public services only."""
    return PUBLIC + (HOSTED if settings.EAGLE3_NOTIFY_HOSTS else ())


def service_of(url: str) -> str:
    """The part of an address that may be shown: its scheme, and its host where that is no secret."""
    scheme = url.partition("://")[0].lower()
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return f"{scheme}://{host}/…" if scheme in HOSTED else f"{scheme}://…"


def without_secrets(text: str, url: str) -> str:
    """The text with every part of the address blotted out that could be a secret."""
    parts = urlsplit(url)
    values = [value for _name, value in parse_qsl(parts.query)]
    host = [] if parts.scheme.lower() in HOSTED else [parts.netloc]
    pieces = [parts.username or "", parts.password or "", *parts.path.split("/"), *values, *host]
    for piece in sorted({found for raw in pieces for found in (raw, unquote(raw))}, key=len, reverse=True):
        if len(piece) >= SECRET_LENGTH:
            text = text.replace(piece, "…")
    return text


def _host(target: apprise.NotifyBase) -> str:
    """Where it really connects to: a mail's server is not always the host of its address."""
    return str(getattr(target, "smtp_host", None) or target.host or "").lower()


def _allowed(target: apprise.NotifyBase) -> set[str]:
    """Hosts that may be reached at this target's port; a setting without a port means all of them."""
    port = f":{target.port}" if target.port else ""
    wanted = {host.lower() for host in settings.EAGLE3_NOTIFY_HOSTS}
    return {host.removesuffix(port) if port and host.endswith(port) else host for host in wanted}
