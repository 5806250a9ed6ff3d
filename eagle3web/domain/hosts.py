"""Machines with a worker: what they have, and when they were last heard."""

import shutil
import subprocess
from datetime import timedelta
from typing import Any

import psutil
from django.conf import settings

from eagle3web.domain import procfs
from eagle3web.domain.clock import database_now
from eagle3web.models import Host

GPU_FIELDS = ("index", "name", "utilization.gpu", "memory.used", "memory.total")
GAP = timedelta(seconds=15)
"""Reports come every five seconds; more than this between two of them is a gap."""
FORGOTTEN_AFTER = timedelta(minutes=5)
"""A host that was silent for so long gets no more messages: they would wait for it in vain."""


def report() -> Host:
    """Write this host's row: that it is heard, since when without a gap, and what it has."""
    now = database_now()
    before = Host.objects.filter(name=settings.EAGLE3_HOST).first()
    steady = before and before.seen_at and now - before.seen_at < GAP and before.steady_since
    fields = {"boot_id": procfs.boot_id(), "seen_at": now, "steady_since": steady or now, "sample": sample()}
    return Host.objects.update_or_create(name=settings.EAGLE3_HOST, defaults=fields)[0]


def listening() -> list[str]:
    """Names of the hosts whose worker was heard of late."""
    recent = Host.objects.filter(seen_at__gte=database_now() - FORGOTTEN_AFTER)
    return list(recent.values_list("name", flat=True))


def sample() -> dict[str, Any]:
    """Load of this host now. Sizes in bytes."""
    memory = psutil.virtual_memory()
    disk = shutil.disk_usage(settings.EAGLE3_HOME)
    return {
        "cpu_percent": psutil.cpu_percent(),
        "cpu_count": psutil.cpu_count(),
        "memory_used": memory.total - memory.available,
        "memory_total": memory.total,
        "disk_free": disk.free,
        "disk_total": disk.total,
        "gpus": gpus(),
    }


def gpus() -> list[dict[str, Any]]:
    """What nvidia-smi tells of each GPU; empty without one."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=4, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [gpu for line in told.splitlines() if (gpu := parse_gpu(line))]


def parse_gpu(line: str) -> dict[str, Any] | None:
    """One line of nvidia-smi, such as `0, NVIDIA H200, 37, 81234, 143771` (percent, MiB); None when it tells no numbers."""
    parts = [part.strip() for part in line.split(",")]
    if len(parts) != len(GPU_FIELDS) or not all(parts[i].isdigit() for i in (0, 2, 3, 4)):
        return None
    index, name, percent, used, total = parts
    return {
        "index": int(index),
        "name": name,
        "percent": int(percent),
        "memory_used": int(used) * 2**20,
        "memory_total": int(total) * 2**20,
    }
