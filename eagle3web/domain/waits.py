"""What keeps queued runs from their start, in words."""

from collections.abc import Iterable

from eagle3web.domain import leases, lineage
from eagle3web.domain.placement import Hosts
from eagle3web.enums import RunStatus
from eagle3web.models import Run


def waits(runs: Iterable[Run]) -> dict[int, str]:
    """Run → what it waits for: another run, what an attempt holds, or a host that takes it. Runs that a worker starts within
    seconds, and those that are not queued, are not among them. Five queries for any number of runs, none without a queued one.
    """
    queued = [run for run in runs if run.status == RunStatus.QUEUED]
    found = lineage.held(queued) if queued else {}
    rest = [run for run in queued if run.pk not in found]
    if not rest:
        return found
    holders, hosts = leases.holders(rest), Hosts.read()
    for run in rest:
        lease = holders.get(run.pk)
        words = f"waits for {lease.attempt}, which holds {lease}" if lease else hosts.place(run).waits
        if words:
            found[run.pk] = words
    return found
