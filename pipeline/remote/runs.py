"""Runs at a shell: list, show, start, steer."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pipeline.errors import ConfigError
from pipeline.remote.client import Remote
from pipeline.remote.follow import follow
from pipeline.remote.show import Printer, count, moment

STAGES = ("generate", "extract", "train", "benchmark", "pipeline")


def list_runs(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    wanted = {name: getattr(args, name) for name in ("project", "stage", "status", "tag", "author", "q")}
    rows = list(remote.rows("/runs", limit=args.limit, **wanted))
    if out.as_json:
        out.json(rows)
    else:
        columns = ("run", "stage", "state", "project", "title", "host", "author", "created")
        out.table(map(line, rows), columns, empty="No run fits. `start` makes one.")
    return 0


def line(run: dict[str, Any]) -> dict[str, Any]:
    return run | {"run": f"r{run['id']}", "state": run["shown"]["words"], "created": moment(run["created_at"])}


def show(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    run = remote.get(f"/runs/{args.run}")
    if out.as_json:
        out.json(run)
        return 0
    out.say(f"r{run['id']} {run['stage']}, {run['shown']['words']}, project {run['project']}")
    for name in ("title", "tags", "host", "devices", "author", "config_hash", "cloned_from"):
        if run[name]:
            out.say(f"{name.replace('_', ' '):<12} {run[name] if not isinstance(run[name], list) else ', '.join(run[name])}")
    out.say(f"{'page':<12} {remote.url}/runs/{run['id']}/")
    attempts = [
        attempt | {"attempt": attempt["number"], "started": moment(attempt["started_at"]), "ended": moment(attempt["ended_at"])}
        for attempt in run["attempts"]
    ]
    out.say("")
    columns = ("attempt", "status", "host", "pid", "started", "ended", "reason")
    out.table(attempts, columns, empty="No attempt yet: it is queued.")
    if run["attempts"] and run["stage"] == "generate":
        out.say("")
        progress = remote.rows(f"/attempts/{run['attempts'][-1]['id']}/datasets")
        out.table(map(standing, progress), ("dataset", "state", "tokens", "budget", "tok/s", "reason"), empty="No dataset yet.")
    return 0


def standing(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"tokens": count(row["tokens"]), "budget": count(row["budget"]), "tok/s": count(row["tokens_per_s"])}


def start(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    body = read_body(args.config)
    for name in ("project", "title", "host"):
        if value := getattr(args, name):
            body[name] = value
    if args.tag:
        body["tags"] = args.tag
    if args.source:
        body["sources"] = args.source
    if "project" not in body:
        raise ConfigError("name the project: --project, or the key in the config")
    path = "/pipelines" if args.stage == "pipeline" else "/runs"
    told = remote.post(path, body if args.stage == "pipeline" else body | {"stage": args.stage})
    return started(remote, told, args, out)


def clone(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    asked = {name: getattr(args, name) for name in ("concurrency", "order", "retry_errors")}
    changes = {name: value for name, value in asked.items() if value is not None}
    return started(remote, remote.post(f"/runs/{args.run}/clone", changes), args, out)


def started(remote: Remote, told: dict[str, Any], args: argparse.Namespace, out: Printer) -> int:
    """Say what was made, and follow it where that was asked for; of a pipeline, the last run, which waits for the others."""
    made = told.get("runs", [told])
    if out.as_json:
        out.json(told)
    else:
        for run in made:
            out.say(f"r{run['id']} {run['stage']}, {run['shown']['words']}: {remote.url}/runs/{run['id']}/")
    if not args.follow:
        return 0
    for run in made:
        if code := follow(remote, run["id"], as_json=out.as_json):
            return code
    return 0


def read_body(source: str | None) -> dict[str, Any]:
    """The JSON of a file, or of standard input for `-`. Raises ConfigError."""
    if source is None:
        return {}
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text()
        body = json.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{source}: {error}") from error
    if not isinstance(body, dict):
        raise ConfigError(f"{source}: a JSON object is needed")
    return body


def steer(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    """stop, pause, resume, settle. A paused run that is resumed goes on; a stopped one gets a new attempt."""
    verb = args.command
    if verb == "resume" and remote.get(f"/runs/{args.run}")["paused"]:
        verb = "unpause"
    told = remote.post(f"/runs/{args.run}/{verb}")
    if out.as_json:
        out.json(told)
    else:
        out.say(f"r{told['id']} {told['stage']}, {told['shown']['words']}")
    return follow(remote, args.run, as_json=out.as_json) if args.follow else 0


def follow_run(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    return follow(remote, args.run, as_json=out.as_json, from_start=args.from_start)
