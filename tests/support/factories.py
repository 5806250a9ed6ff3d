"""Boring factories: each makes one valid row, and takes the fields that a test cares about as keywords."""

import itertools
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from eagle3web.enums import (
    AttemptStatus,
    DatasetState,
    EngineState,
    InputKind,
    Prunable,
    Review,
    RevisionState,
    RunStatus,
    Stage,
)
from eagle3web.models import (
    Answer,
    AnswerFile,
    AnswerFlag,
    Attempt,
    AuditEntry,
    BenchmarkRow,
    Checkpoint,
    CheckpointReview,
    Comment,
    ControlMessage,
    Dataset,
    DatasetProgress,
    DatasetRevision,
    DraftedAnswer,
    Engine,
    EngineSample,
    Event,
    Host,
    HostSample,
    LogChunk,
    MetricPoint,
    Notification,
    NotificationChannel,
    Project,
    Pruned,
    RetentionPolicy,
    Run,
    RunInput,
    SavedView,
    Star,
    TokenBudget,
    Transition,
    User,
)
from pipeline.artifacts import Home

HOSTILE = '<script>alert("x")</script>{{ 7|add:7 }}{% now "Y" %}\x1b[31mred\x1b[0m\x07\x00\u202e&amp;<b>bold</b>'
"""Text that must come out as text on every page."""

PASSWORD = "correct horse battery"
_numbers = itertools.count(1)


def user(name: str = "", *, permissions: tuple[str, ...] = (), groups: tuple[str, ...] = (), **fields: Any) -> User:
    """A person who may do what `permissions` say, such as `("change_run",)`; the password is PASSWORD."""
    person = User.objects.create_user(name or f"person-{next(_numbers)}", password=PASSWORD, **fields)
    if permissions:
        found = Permission.objects.filter(content_type__app_label="eagle3web", codename__in=permissions)
        assert found.count() == len(permissions)
        person.user_permissions.set(found)
    for group in groups:
        person.groups.add(Group.objects.get_or_create(name=group)[0])
    return person


def project(**fields: Any) -> Project:
    number = next(_numbers)
    defaults = {
        "slug": f"project-{number}",
        "name": f"Drafter {number}",
        "target_model": "SmolLM2-135M-Instruct",
        "tokenizer": "/models/smollm2",
        "sampling": {"temperature": 0.0, "max_new_tokens": 512},
    }
    return Project.objects.create(**defaults | fields)


def dataset(**fields: Any) -> Dataset:
    number = next(_numbers)
    return Dataset.objects.create(**{"slug": f"B{number}_set", "title": "", "licence": "Apache-2.0"} | fields)


def revision(of: Dataset | None = None, **fields: Any) -> DatasetRevision:
    """A ready revision of 1,000 prompts."""
    number = next(_numbers)
    defaults: dict[str, Any] = {
        "dataset": of or dataset(),
        "revision": f"{number:064x}",
        "state": RevisionState.READY,
        "file_name": "prompts.jsonl",
        "bytes_total": 250_000,
        "bytes_done": 250_000,
        "accepted": 1000,
        "rejected": 2,
        "report": {"rejections": [{"file": "prompts.jsonl", "line": 7, "id": "p-7", "reason": "no user turn"}], "warnings": []},
        "token_lengths": {"edges": [0, 32, 64, 128], "counts": [420, 380, 200], "mean": 51.5, "max": 126},
    }
    return DatasetRevision.objects.create(**defaults | fields)


def budget(of: Project | None = None, to: Dataset | None = None, **fields: Any) -> TokenBudget:
    defaults: dict[str, Any] = {"tokens": 10_000_000, "position": next(_numbers)}
    row = TokenBudget(project=of or project(), dataset=to or dataset(), **defaults | fields)
    row.save()
    return row


def engine(**fields: Any) -> Engine:
    number = next(_numbers)
    now = timezone.now()
    defaults: dict[str, Any] = {
        "name": f"engine-{number}",
        "url": f"http://127.0.0.1:{30000 + number}",
        "state": EngineState.HEALTHY,
        "state_since": now - timedelta(hours=1),
        "checked_at": now,
        "info": {"model_path": "SmolLM2-135M-Instruct", "context_length": 8192, "version": "0.5.6"},
        "running": 8,
        "tokens_per_s": 410.0,
    }
    return Engine.objects.create(**defaults | fields)


def host(**fields: Any) -> Host:
    sample = {
        "cpu_percent": 31.0,
        "memory_used": 9 * 2**30,
        "memory_total": 64 * 2**30,
        "disk_free": 700 * 10**9,
        "disk_total": 1000 * 10**9,
        "gpus": [],
    }
    defaults = {"name": f"gpu-{next(_numbers):02d}", "seen_at": timezone.now(), "boot_id": "boot-1", "sample": sample}
    return Host.objects.create(**defaults | fields)


def run(of: Project | None = None, **fields: Any) -> Run:
    """A queued generation run."""
    owner = of or project()
    defaults: dict[str, Any] = {
        "project": owner,
        "stage": Stage.GENERATE,
        "config": {"project": owner.slug, "concurrency": 8, "order": "sequential", "engines": [], "datasets": []},
        "config_hash": "3be1c07a",
        "status": RunStatus.QUEUED,
    }
    return Run.objects.create(**defaults | fields)


def run_input(of: Run, source: Run | None = None, **fields: Any) -> RunInput:
    """The answers of `source`; prompts without one."""
    kind = InputKind.RESPONSES if source else InputKind.PROMPTS
    return RunInput.objects.create(**{"run": of, "source": source, "kind": kind, "ref": {"B1": "a" * 64}} | fields)


def attempt(of: Run | None = None, **fields: Any) -> Attempt:
    """A running attempt, heard and seen working just now; the run gets the same status."""
    owner = of or run()
    now = timezone.now()
    number = owner.attempts.count() + 1
    defaults: dict[str, Any] = {
        "run": owner,
        "number": number,
        "status": AttemptStatus.RUNNING,
        "host": "gpu-07",
        "folder": str(Path("runs") / str(owner.pk) / "attempts" / str(number)),
        "supervisor_pid": 48_200,
        "pid": 48_211,
        "argv": ["python", "-m", "pipeline", "generate"],
        "config": owner.config,
        "git_sha": "9f3c2aea1b2c3d4e5f60718293a4b5c6d7e8f901",
        "started_at": now - timedelta(minutes=34),
        "heartbeat_at": now,
        "tick_at": now,
        "progress_at": now,
    }
    row = Attempt.objects.create(**defaults | fields)
    Run.objects.filter(pk=owner.pk).update(status=row.status)
    owner.status = row.status
    return row


def progress(of: Attempt | None = None, **fields: Any) -> DatasetProgress:
    """A dataset 42 % of the way to its budget."""
    defaults: dict[str, Any] = {
        "attempt": of or attempt(),
        "dataset": f"B{next(_numbers)}_set",
        "position": next(_numbers),
        "state": DatasetState.RUNNING,
        "total": 6236,
        "done": 1728,
        "errors": 3,
        "truncated": 80,
        "tokens": 4_200_000,
        "budget": 10_000_000,
        "budget_version": 1,
        "in_flight": 128,
        "in_flight_tokens": 310_000,
        "requests_per_s": 0.86,
        "tokens_per_s": 2094.0,
        "mean_completion": 2431.0,
        "longest": 8192,
        "finish_reasons": {"stop": 1648, "length": 80},
        "eta_s": 2760.0,
        "updated_at": timezone.now(),
    }
    return DatasetProgress.objects.create(**defaults | fields)


def event(of: Attempt, kind: str, *, t: datetime | None = None, **payload: Any) -> Event:
    """The attempt's next event."""
    of.last_seq += 1
    of.save(update_fields=["last_seq"])
    return Event.objects.create(attempt=of, seq=of.last_seq, t=t or timezone.now(), kind=kind, payload=payload)


def log(of: Attempt, text: str) -> LogChunk:
    """Append to the attempt's stored log."""
    data = text.encode("utf-8", "surrogateescape")
    before = of.log_chunks.order_by("-offset").first()
    inside_a_line = before is not None and not bytes(before.data).endswith(b"\n")
    first_line = of.log_lines + (2 if inside_a_line else 1)
    chunk = LogChunk.objects.create(attempt=of, offset=of.log_bytes, first_line=first_line, data=data)
    of.log_bytes += len(data)
    of.log_lines += data.count(b"\n")
    of.save(update_fields=["log_bytes", "log_lines"])
    return chunk


def point(of: Attempt, name: str, value: float, *, series: str = "", t: datetime | None = None, step: int = 0) -> MetricPoint:
    return MetricPoint.objects.create(attempt=of, name=name, series=series, t=t or timezone.now(), step=step, value=value)


def checkpoint(of: Attempt | None = None, *, folder: bool = False, **fields: Any) -> Checkpoint:
    """A checkpoint of a training attempt; with `folder` its files are there, as far as a download needs them."""
    owner = of or attempt(run(stage=Stage.TRAIN))
    step = fields.get("step", 100 * next(_numbers))
    home = Home(Path(settings.EAGLE3_HOME)).checkpoints(owner.run.project.slug, owner.run_id)
    defaults: dict[str, Any] = {
        "project": owner.run.project,
        "run": owner.run,
        "attempt": owner,
        "step": step,
        "path": str(home / f"step-{step:06d}"),
        "bytes": 58_000_000,
        "metrics": {"eval_loss": 1.352, "simulated_accept_length": 2.96, "accept_length": 2.69},
        "manifest": {"lineage": {"datasets": [{"dataset": "B1", "documents": 900, "tokens": 210_000}]}},
        "saved_at": timezone.now(),
    }
    row = Checkpoint.objects.create(**defaults | fields)
    if folder:
        Path(row.path).mkdir(parents=True)
        for name in ("config.json", "model.safetensors", "manifest.json", "README.md"):
            (Path(row.path) / name).write_text("{}")
    return row


def result(of: Attempt, mode: str, **fields: Any) -> BenchmarkRow:
    """A row over all datasets; the plain one does 41 tokens a second."""
    speedup = {"plain": None, "lookup": 1.21, "drafter": 1.58}[mode]
    rate = 41.2 * (speedup or 1)
    defaults: dict[str, Any] = {
        "attempt": of,
        "mode": mode,
        "shape": "" if mode == "plain" else "3/1/4",
        "concurrency": 1,
        "requests": 24,
        "tokens": 3072,
        "tokens_per_s": rate,
        "tokens_per_s_low": rate * 0.98,
        "tokens_per_s_high": rate * 1.02,
        "first_token_s": 0.031,
        "inter_token_s": 0.024,
        "speedup": speedup,
        "speedup_low": speedup and speedup - 0.04,
        "speedup_high": speedup and speedup + 0.03,
        "accept_length": None if mode == "plain" else 1.7 if mode == "lookup" else 2.69,
        "acceptance": [] if mode == "plain" else [0.76, 0.66, 0.57],
        "identical": None if mode == "plain" else 24,
    }
    return BenchmarkRow.objects.create(**defaults | fields)


def answer(of: Attempt, **fields: Any) -> DraftedAnswer:
    """Five tokens, three of them drafted."""
    defaults: dict[str, Any] = {
        "attempt": of, "dataset": "B1", "prompt_id": f"p-{next(_numbers)}", "prompt": "Count.", "mode": "drafter",
        "shape": "3/1/4", "pieces": ["one", " two", " three", " four", "."], "depths": [0, 1, 2, 3, 0],
    }  # fmt: skip
    return DraftedAnswer.objects.create(**defaults | fields)


def transition(of: Run, old: str, new: str, **fields: Any) -> Transition:
    return Transition.objects.create(run=of, old=old, new=new, **fields)


def control(of: Attempt, kind: str, **fields: Any) -> ControlMessage:
    return ControlMessage.objects.create(attempt=of, kind=kind, **fields)


def audit(verb: str, target: str, **fields: Any) -> AuditEntry:
    return AuditEntry.objects.create(verb=verb, target=target, **fields)


def stored_answer(of: Project | None = None, **fields: Any) -> Answer:
    """The pages' copy of one answer on disk."""
    number = next(_numbers)
    values: dict[str, Any] = {
        "project": of or project(),
        "dataset": "B1",
        "key": f"{number:016x}",
        "scope": "0" * 16,
        "prompt_id": f"row-{number}",
        "prompt": f"question {number}",
        "text": f"answer {number}",
        "finish_reason": "stop",
        "prompt_tokens": 10,
        "tokens": 100,
        "language": "Latin",
        "finished_at": timezone.now(),
    }
    return Answer.objects.create(**values | fields)


def answer_file(of: Project | None = None, **fields: Any) -> AnswerFile:
    return AnswerFile.objects.create(**{"project": of or project(), "dataset": "B1", "name": "part-00001.jsonl"} | fields)


def flag(of: Answer, **fields: Any) -> AnswerFlag:
    return AnswerFlag.objects.create(project=of.project, dataset=of.dataset, key=of.key, **fields)


def comment(on: Run | Checkpoint, text: str = "Looks good.", **fields: Any) -> Comment:
    about = {"run": on} if isinstance(on, Run) else {"checkpoint": on}
    return Comment.objects.create(text=text, **about, **fields)


def review(of: Checkpoint, state: Review = Review.PROPOSED, **fields: Any) -> CheckpointReview:
    return CheckpointReview.objects.create(checkpoint=of, state=state, **fields)


def star(by: User, of: Run) -> Star:
    return Star.objects.create(user=by, run=of)


def saved_view(of: Project, owner: User, **fields: Any) -> SavedView:
    return SavedView.objects.create(
        project=of, owner=owner, **{"name": f"view {next(_numbers)}", "query": "state=live"} | fields
    )


def channel(of: User, **fields: Any) -> NotificationChannel:
    values = {"name": f"channel {next(_numbers)}", "url": "json://127.0.0.1:9/hook"}
    return NotificationChannel.objects.create(user=of, **values | fields)


def notification(to: NotificationChannel, **fields: Any) -> Notification:
    values = {"kind": "finished", "about": f"run {next(_numbers)}", "subject": "r1 finished"}
    return Notification.objects.create(channel=to, **values | fields)


def host_sample(of: Host, *, at: datetime | None = None, **fields: Any) -> HostSample:
    values = {
        "cpu_percent": 12.5,
        "memory_used": 4 << 30,
        "memory_total": 16 << 30,
        "disk_free": 50 << 30,
        "disk_total": 99 << 30,
    }
    return HostSample.objects.create(host=of, at=at or timezone.now(), **values | fields)


def engine_sample(of: Engine, *, at: datetime | None = None, **fields: Any) -> EngineSample:
    values = {"running": 3, "waiting": 1, "tokens_per_s": 120.0}
    return EngineSample.objects.create(engine=of, at=at or timezone.now(), **values | fields)


def policy(kind: Prunable, of: Project | None = None, **fields: Any) -> RetentionPolicy:
    """A rule that is switched on: after 30 days, and the last one stays."""
    return RetentionPolicy.objects.create(kind=kind, project=of, **{"enabled": True, "days": 30, "keep_last": 1} | fields)


def old_attempt(of: Run, *, days: float = 100, **fields: Any) -> Attempt:
    """A finished attempt that ended so many days ago; the run is finished, too."""
    ended = timezone.now() - timedelta(days=days)
    defaults: dict[str, Any] = {"status": AttemptStatus.FINISHED, "host": "test-host", "ended_at": ended}
    return attempt(of, **defaults | fields)


def pruned(kind: Prunable, of: Run, **fields: Any) -> Pruned:
    values = {"policy": f"{kind} go after 30 days (rule of all projects)", "host": "test-host", "bytes": 5_000_000, "count": 1}
    return Pruned.objects.create(kind=kind, run=of, **values | fields)
