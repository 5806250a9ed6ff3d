"""The devices of a run, as the config of its stage names them."""

from collections.abc import Sequence

ANY_DEVICE = "cuda:*"
"""A device that is asked for without saying which: any GPU that nobody holds. The host that takes the run says which it is."""


def device_of(devices: Sequence[str]) -> str:
    """The `device` of a config whose run holds these: `map` spreads one model over several; `auto` while nobody knows."""
    if len(devices) > 1:
        return "map"
    return devices[0] if devices and devices[0] != ANY_DEVICE else "auto"
