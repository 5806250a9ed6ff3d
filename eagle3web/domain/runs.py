"""What people do with runs. Each verb checks the state, writes a Transition and an AuditEntry, and leaves messages behind.

Nothing here starts a process: whoever calls `create_run` or `resume` sends `tasks.launch_run` after the commit, and a
message that is lost is made up for by the next reconcile.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from eagle3web.domain import attempts, audit, controls, lineage, plans
from eagle3web.enums import AttemptStatus, RunStatus, Stage
from eagle3web.models import Project, Run, User
from eagle3web.queries.erring import needs_look
from pipeline.artifacts import config_hash
from pipeline.control import Pause, Resume, SetConcurrency, Stop


class NotAllowedNow(Exception):  # noqa: N818  (it reads as the sentence that it is)
    """The state of the run forbids it. The text says which state, for a person."""


def create_run(
    project: Project,
    *,
    stage: str,
    config: dict[str, Any],
    user: User | None,
    title: str = "",
    tags: Iterable[str] = (),
    host: str = "",
    host_tags: Iterable[str] | None = None,
    devices: Iterable[str] = (),
    inputs: Iterable[lineage.Input] = (),
    cloned_from: Run | None = None,
) -> Run:
    """A queued run with a frozen config, which starts when the sources among its inputs are finished. It asks for hosts with
    the project's tags unless `host_tags` names others.

    Raises pipeline.errors.ConfigError when the config makes no sense, or when a source does not make what it is taken for.
    """
    frozen = plans.with_trust(project, plans.validate(stage, config))
    with transaction.atomic():
        run = Run.objects.create(
            project=project,
            stage=stage,
            title=title,
            tags=list(tags),
            config=frozen,
            config_hash=config_hash(frozen),
            host=host,
            host_tags=list(project.host_tags if host_tags is None else host_tags),
            devices=list(devices),
            author=user,
            cloned_from=cloned_from,
        )
        lineage.connect(run, inputs)
        attempts.record_transition(run, old="", new=RunStatus.QUEUED, reason=f"created by {name(user)}", author=user)
        audit.record(user, "run.create", run, stage=stage, config=run.config_hash, project=project.slug)
    return run


def clone(run: Run, *, user: User | None, changes: Mapping[str, Any]) -> Run:
    """A new queued run like this one, with some keys of its config changed."""
    return create_run(
        run.project,
        stage=run.stage,
        config=run.config | dict(changes),
        user=user,
        title=run.title,
        tags=run.tags,
        host=run.host,
        host_tags=run.host_tags,
        devices=run.devices,
        inputs=lineage.inputs_of(run),
        cloned_from=run,
    )


def resume(run: Run, *, user: User | None) -> bool:
    """Queue a stopped, failed or lost run again; its next attempt goes on where the files end. False: somebody was first.

    What was asked of earlier attempts (stop, pause) is forgotten. Raises NotAllowedNow for a run that is live or finished.
    """
    with transaction.atomic():
        row = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if row.status not in RunStatus.RESUMABLE:
            if run.status in RunStatus.RESUMABLE:
                return False
            raise NotAllowedNow(f"{row} is {row.status}; only a stopped, failed or lost run is resumed")
        Run.objects.filter(pk=run.pk).update(
            status=RunStatus.QUEUED,
            paused=False,
            stop_requested_at=None,
            stop_requested_by=None,
            settled_at=None,
            queued_at=timezone.now(),
        )
        reason = f"resumed by {name(user)}"
        attempts.record_transition(row, old=row.status, new=RunStatus.QUEUED, reason=reason, author=user)
        audit.record(user, "run.resume", run, after=row.status)
    run.refresh_from_db()
    return True


def request_stop(run: Run, *, user: User | None) -> bool:
    """Ask a run to stop. A queued one is stopped at once; a live one saves its work first. False: it was asked already.

    Raises NotAllowedNow when the run has ended.
    """
    with transaction.atomic():
        row = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        asked = {"stop_requested_at": timezone.now(), "stop_requested_by": user}
        if row.status == RunStatus.QUEUED:
            Run.objects.filter(pk=run.pk).update(status=RunStatus.STOPPED, **asked)
            reason = f"stopped by {name(user)} before it started"
            attempts.record_transition(row, old=RunStatus.QUEUED, new=RunStatus.STOPPED, reason=reason, author=user)
        else:
            attempt = attempts.live_attempt(row)
            if attempt is None:
                raise NotAllowedNow(f"{row} is {row.status} already")
            reason = f"{name(user)} asked it to stop"
            moves = {AttemptStatus.STARTING, AttemptStatus.RUNNING}
            if not attempts.mark(attempt, old=moves, new=AttemptStatus.STOPPING, reason=reason, author=user):
                return False
            Run.objects.filter(pk=run.pk).update(**asked)
            controls.leave(attempt, Stop(reason=f"stopped by {name(user)}"), user=user)
        audit.record(user, "run.stop", run, was=row.status)
    run.refresh_from_db()
    return True


def settle(run: Run, *, user: User | None) -> bool:
    """Leave a run that failed, was lost, or ended with errors as it is: until it fails again, it is not among what needs
    somebody. False: it was already.

    Raises NotAllowedNow for a run that is none of these.
    """
    with transaction.atomic():
        row = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if not needs_look(row):
            raise NotAllowedNow(f"{row} is {row.status}; only a run that failed, is lost, or ended with errors is settled")
        if row.settled_at is not None:
            return False
        Run.objects.filter(pk=run.pk).update(settled_at=timezone.now())
        audit.record(user, "run.settle", run, was=row.status)
    attempts.announce(row)
    run.refresh_from_db()
    return True


def pause(run: Run, *, user: User | None) -> None:
    """Ask a live run to admit nothing new until it is resumed. Raises NotAllowedNow when it is not live."""
    _steer(run, Pause(), verb="run.pause", user=user, paused=True)


def unpause(run: Run, *, user: User | None) -> None:
    """Let a paused run go on. Raises NotAllowedNow when it is not live."""
    _steer(run, Resume(), verb="run.unpause", user=user, paused=False)


def set_concurrency(run: Run, n: int, *, user: User | None) -> None:
    """Ask for `n` requests in flight; later attempts start with it. Raises NotAllowedNow when the run is not live."""
    if n < 1:
        raise NotAllowedNow("at least one request must be in flight; pause the run to have none")
    _steer(run, SetConcurrency(n=n), verb="run.concurrency", user=user)


def name(user: User | None) -> str:
    """Who did it, in words."""
    return "the system" if user is None else user.get_username()


def _steer(run: Run, control: Pause | Resume | SetConcurrency, *, verb: str, user: User | None, **fields: Any) -> None:
    if run.stage == Stage.SERVE:
        raise NotAllowedNow(
            f"{run} serves: what others send it is theirs to hold back; stop it, or let it draft with another one"
        )
    with transaction.atomic():
        row = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if row.status not in {RunStatus.STARTING, RunStatus.RUNNING} or controls.send(row, control, user=user) is None:
            raise NotAllowedNow(f"{row} is {row.status}; only a running run can be steered")
        if fields:
            Run.objects.filter(pk=run.pk).update(**fields)
        audit.record(user, verb, run, **({"n": control.n} if isinstance(control, SetConcurrency) else {}))
    attempts.announce(row)
    run.refresh_from_db()
