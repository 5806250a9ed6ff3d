"""Token budgets at a shell: what they are, and changing one without undoing what somebody else changed."""

import argparse
from typing import Any

from pipeline.errors import ConfigError
from pipeline.remote.client import Remote
from pipeline.remote.show import Printer, count, moment

UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}
ALL = "all"
"""Instead of an amount: every prompt."""


def amount(text: str) -> int | None:
    """`10000000`, `10M`, `2.5 M`, `all` (None). Raises ArgumentTypeError."""
    word = text.strip().lower().replace("_", "").replace(",", "").replace(" ", "")
    if word == ALL:
        return None
    number, unit = (word[:-1], UNITS[word[-1]]) if word[-1:] in UNITS else (word, 1)
    try:
        value = float(number) * unit if number.replace(".", "", 1).isdigit() else -1
    except ValueError:
        value = -1
    if value < 0 or value != int(value):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount; write 10000000, 10M, 2.5M, or {ALL} for every prompt")
    return int(value)


def list_budgets(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    rows = list(remote.rows(f"/projects/{args.project}/budgets"))
    if out.as_json:
        out.json(rows)
    else:
        columns = ("dataset", "tokens", "max_samples", "enabled", "version", "updated")
        out.table(map(line, rows), columns, empty="No budget yet; somebody with the role budget admin adds one.")
    return 0


def line(row: dict[str, Any]) -> dict[str, Any]:
    tokens = "all prompts" if row["tokens"] is None else count(row["tokens"])
    shown = {"tokens": tokens, "max_samples": count(row["max_samples"]), "enabled": "yes" if row["enabled"] else "no"}
    return row | shown | {"updated": moment(row["updated_at"])}


def set_budget(remote: Remote, args: argparse.Namespace, out: Printer) -> int:
    """Change what was named, against the version that was read: now, or when the caller says with --version."""
    budget = next((row for row in remote.rows(f"/projects/{args.project}/budgets") if row["dataset"] == args.dataset), None)
    if budget is None:
        raise ConfigError(f"{args.project} has no budget for {args.dataset}; `budgets {args.project}` lists them")
    named = {name: getattr(args, name) for name in ("tokens", "max_samples", "enabled") if name in vars(args)}
    if not named:
        raise ConfigError("say what to change: --tokens, --max-samples, --enable or --disable")
    told = remote.patch(f"/budgets/{budget['id']}", named | {"version": args.version or budget["version"]})
    if out.as_json:
        out.json(told)
    else:
        was, now = line(budget), line(told)
        changed = [f"{name.replace('_', ' ')} {was[name]} → {now[name]}" for name in named]
        out.say(f"{args.dataset}: {', '.join(changed)}; version {told['version']}. A live run hears of it within a second.")
    return 0
