"""Datasets, checkpoints, engines and hosts at a shell."""

import argparse
from typing import Any

from pipeline.amounts import size
from pipeline.remote.client import Remote
from pipeline.remote.show import Printer, count, moment


def whoami(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    me = remote.get("/me")
    if out.as_json:
        out.json(me)
    else:
        out.say(f"{me['username']} at {remote.url}: {', '.join(me['roles']) or 'no role'}")
    return 0


def list_projects(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    return _list(out, list(remote.rows("/projects")), ("slug", "name", "target_model"), "No project yet.")


def list_datasets(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    rows = list(remote.rows("/datasets", q=args.q))
    return _list(out, rows, ("slug", "title", "licence", "source"), "No dataset fits. They are imported on the site.")


def show_dataset(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    rows = list(remote.rows(f"/datasets/{args.slug}/revisions"))
    shown = [
        row
        | {"revision": row["revision"][:12] or None, "prompts": count(row["accepted"]), "imported": moment(row["created_at"])}
        for row in rows
    ]
    if out.as_json:
        out.json(remote.get(f"/datasets/{args.slug}") | {"revisions": rows})
    else:
        out.table(shown, ("revision", "state", "prompts", "rejected", "imported", "error"), empty="Nothing was imported yet.")
    return 0


def list_checkpoints(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    wanted = {"project": args.project, "run": args.run, "promoted": "true" if args.promoted else None}
    rows = list(remote.rows("/checkpoints", **wanted))
    if out.as_json:
        out.json(rows)
    else:
        columns = ("id", "run", "step", "accept length", "loss", "size", "mark", "saved")
        out.table(map(checkpoint_line, rows), columns, empty="No checkpoint fits. Training saves them.")
    return 0


def checkpoint_line(row: dict[str, Any]) -> dict[str, Any]:
    marks = [word for word in ("promoted", "best") if row[word]] + ([row["review"]] if row["review"] else [])
    marks += ["deleted"] if row["removed_at"] else []
    length, loss = row["metrics"].get("accept_length"), row["metrics"].get("eval_loss")
    return row | {
        "run": f"r{row['run']}",
        "accept length": None if length is None else f"{length:.2f}",
        "loss": None if loss is None else f"{loss:.3f}",
        "size": size(row["bytes"]),
        "mark": ", ".join(marks),
        "saved": moment(row["saved_at"]),
    }


def promote(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    told = remote.post(f"/checkpoints/{args.checkpoint}/promote", {"anyway": args.anyway})
    if out.as_json:
        out.json(told)
    else:
        out.say(f"r{told['run']} step {told['step']} is the drafter of {told['project']}")
    return 0


def launch_command(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    """Print what serves the target with the drafter, ready for a shell."""
    told = remote.get(f"/checkpoints/{args.checkpoint}")
    if out.as_json:
        out.json({"launch_command": told["launch_command"], "host": told["host"], "path": told["path"]})
    else:
        out.say(told["launch_command"].replace(" \\\n", ""))
    return 0


def list_engines(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    rows = [row | {"tok/s": count(row["tokens_per_s"])} for row in remote.rows("/engines")]
    return _list(out, rows, ("name", "state", "url", "running", "waiting", "tok/s", "reason"), "No engine is registered.")


def list_hosts(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    rows = [row | row["sample"] | {"heard": moment(row["seen_at"])} for row in remote.rows("/hosts")]
    for row in rows:
        row["disk free"] = size(row["disk_free"]) if row.get("disk_free") is not None else None
        row["gpus"] = len(row.get("gpus", ()))
    return _list(out, rows, ("name", "heard", "cpu_percent", "disk free", "gpus"), "No worker was ever heard.")


def _list(out: Printer, rows: list[dict[str, Any]], columns: tuple[str, ...], empty: str) -> int:
    if out.as_json:
        out.json(rows)
    else:
        out.table(rows, columns, empty=empty)
    return 0
