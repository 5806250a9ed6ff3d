"""The devices of a run, as the config of its stage names them."""

from collections.abc import Sequence

ANY_DEVICE = "cuda:*"
"""A device that is asked for without saying which: any GPU that nobody holds. The host that takes the run says which it is."""


def device_of(devices: Sequence[str]) -> str:
    """The `device` of a config whose run holds these: `map` spreads one model over several; `auto` while nobody knows."""
    if len(devices) > 1:
        return "map"
    return devices[0] if devices and devices[0] != ANY_DEVICE else "auto"


def several(devices: Sequence[str]) -> list[str]:
    """The `devices` of a training whose run holds these: none for one alone, or while nobody knows which they are."""
    return list(devices) if len(devices) > 1 and ANY_DEVICE not in devices else []
