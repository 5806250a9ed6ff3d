"""The README.md of a checkpoint folder: what the drafter is, what it learned from, what was measured, how to serve it.

Everything in it comes from files of the folder: config.json, manifest.json and, once a benchmark has finished,
benchmark.json. So it can be written again at any time, and says nothing that is not known.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.artifacts import atomic_write, read_json, write_json
from pipeline.benchmark_rows import Row, headline
from pipeline.draft_shape import DraftShape
from pipeline.drafter_config import DrafterConfig, expected_shapes, from_json
from pipeline.errors import DataError
from pipeline.sglang_command import launch_command

CARD = "README.md"
BENCHMARK = "benchmark.json"

FINGERPRINT = re.compile(r".+@[0-9a-f]{12}")
SHOWN_IN_OTHER_PLACES = ("target", "datasets", "licence")


def write_model_card(folder: Path, *, benchmark: Mapping[str, Any] | None = None) -> Path:
    """Write README.md anew, all at once; with `benchmark`, the summary of one, that is kept in the folder first.

    Of the manifest's lineage these keys are shown in words, where they are there, and all others as they are: `target` (name,
    folder or fingerprint), `datasets` (list of {"dataset", "documents", "tokens", "licence"}), `licence` (of the weights: an
    identifier as the Hugging Face Hub has them). Of its metrics: `simulated_accept_length`, `accept_length` (decoded),
    `eval_loss`. Raises DataError for a folder that is no checkpoint, OSError where it cannot be written.
    """
    if benchmark is not None:
        write_json(folder / BENCHMARK, dict(benchmark))
    card = folder / CARD
    atomic_write(card, render(folder).encode())
    return card


def kept_benchmark(folder: Path) -> dict[str, Any] | None:
    """The summary of the benchmark that measured this checkpoint last; None when none did."""
    path = folder / BENCHMARK
    found: dict[str, Any] | None = read_json(path) if path.exists() else None
    return found


def render(folder: Path) -> str:
    """The card's text. Raises DataError for a folder that is no checkpoint."""
    try:
        config = from_json(read_json(folder / "config.json"))
        manifest = read_json(folder / "manifest.json")
    except (OSError, ValueError) as error:
        raise DataError(f"{folder}: no checkpoint to write a card for: {error}") from error
    lineage, metrics = manifest.get("lineage", {}), manifest.get("metrics", {})
    measured = kept_benchmark(folder)
    name = _name(str(lineage.get("target") or (measured or {}).get("target") or ""))
    parts = [
        _front_matter(name, lineage),
        f"# EAGLE-3 drafter for {_text(name) or 'an unnamed target'}",
        "One decoder layer that drafts tokens for its target model; the target verifies them, so that greedy answers stay "
        "what the target alone would say. Useless without that target.",
        _accept_lengths(metrics, measured),
        _benchmark(measured),
        _serving(folder, _target_folder(lineage, measured) or name, measured),
        _data(lineage.get("datasets", ()), measured),
        _sizes(config),
        _origin(manifest, lineage, metrics),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(name: str, lineage: Mapping[str, Any]) -> str:
    """Metadata as the Hugging Face Hub reads it. What is not known is left out: a wrong licence is worse than none."""
    fields: dict[str, Any] = {"library_name": "sglang", "tags": ["eagle3", "speculative-decoding"]}
    if name:
        fields["base_model"] = name
    if lineage.get("licence"):
        fields["license"] = str(lineage["licence"])
    # Any JSON value is a YAML value too.
    return "\n".join(["---", *(f"{key}: {json.dumps(value)}" for key, value in fields.items()), "---"])


def _accept_lengths(metrics: Mapping[str, Any], measured: Mapping[str, Any] | None) -> str:
    best = headline(measured["rows"], "drafter") if measured else None
    rows = [
        ("decoded, by the benchmark below", best and best["accept_length"]),
        ("decoded, on held-out prompts while it was trained", metrics.get("accept_length")),
        ("simulated, teacher-forced on held-out answers: overstates decoding", metrics.get("simulated_accept_length")),
    ]
    known = [(how, f"{value:.2f}") for how, value in rows if isinstance(value, int | float)]
    if not known:
        return ""
    table = _table(("accept length", "tokens a verification"), known)
    return f"## Accept length\n\nThe target's own token is counted, so that 1.00 is a drafter without use.\n\n{table}"


def _benchmark(measured: Mapping[str, Any] | None) -> str:
    if measured is None:
        return ""
    rows = [
        (
            row["dataset"] or "all",
            row["concurrency"],
            f"{row['mode']} {row['shape']}".strip(),
            f"{row['tokens_per_s']:.1f} ({row['tokens_per_s_low']:.1f}–{row['tokens_per_s_high']:.1f})",
            "baseline" if row["speedup"] is None else _spread(row),
            "" if row["accept_length"] is None else f"{row['accept_length']:.2f}",
        )
        for row in sorted(measured["rows"], key=lambda row: (row["dataset"] != "", row["dataset"], row["concurrency"]))
    ]
    names = ("dataset", "requests at once", "decoding", "tokens/s (spread)", "speedup (spread)", "accept length")
    verdict = _text(str(measured.get("verdict", "")))
    how = (
        f"Median and spread of {measured['repetitions']} repetitions on held-out prompts, each beside its own baseline; "
        f"{measured['dtype']} on {_text(str(measured['device']))}."
    )
    return "\n\n".join(["## Benchmark", *([verdict] if verdict else []), how, _table(names, rows)])


def _spread(row: Row) -> str:
    return f"{row['speedup']:.2f}× ({row['speedup_low']:.2f}–{row['speedup_high']:.2f})"


def _serving(folder: Path, target: str, measured: Mapping[str, Any] | None) -> str:
    best = headline(measured["rows"], "drafter") if measured else None
    shape = DraftShape.parse(best["shape"]) if best else DraftShape()
    command = launch_command(target=target or "TARGET", drafter=str(folder.absolute()), shape=shape)
    return f"## Serve it with SGLang\n\n```sh\n{command}\n```"


def _data(datasets: Sequence[Mapping[str, Any]], measured: Mapping[str, Any] | None) -> str:
    """Licences come with the prompts that a benchmark read, where the lineage has none."""
    if not datasets:
        return ""
    licences = {entry["dataset"]: entry.get("licence") for entry in (measured or {}).get("prompts", ())}
    rows = [
        (
            str(entry.get("dataset", "")),
            _count(entry.get("documents")),
            _count(entry.get("tokens")),
            str(entry.get("licence") or licences.get(entry.get("dataset")) or "unknown"),
        )
        for entry in datasets
    ]
    table = _table(("dataset", "answers", "tokens", "licence of its prompts"), rows)
    return f"## Training data\n\nThe target's own answers to these prompts.\n\n{table}"


def _sizes(config: DrafterConfig) -> str:
    shapes = expected_shapes(config)
    total = sum(_product(shape) for name, shape in shapes.items() if name not in ("d2t", "t2d"))
    text = (
        f"{total:,} trained parameters. Drafts {config.draft_vocab_size:,} of the target's {config.vocab_size:,} tokens, from "
        f"the outputs of its layers {', '.join(map(str, config.feature_layers.sglang))} (as SGLang counts them), within a "
        f"context of {config.max_position_embeddings:,} tokens."
    )
    table = _table(("tensor", "shape"), [(f"`{name}`", " × ".join(map(str, shape))) for name, shape in shapes.items()])
    return f"## Sizes\n\n{text}\n\n{table}"


def _origin(manifest: Mapping[str, Any], lineage: Mapping[str, Any], metrics: Mapping[str, Any]) -> str:
    told = {
        "lineage": {key: value for key, value in lineage.items() if key not in SHOWN_IN_OTHER_PLACES},
        "metrics": dict(metrics),
        "files": manifest.get("files", {}),
    }
    shown = {key: value for key, value in told.items() if value}
    # Indented, as a fence could be closed by the text in it.
    block = "\n".join(f"    {line}" for line in json.dumps(shown, indent=2, sort_keys=True).splitlines())
    return f"## Origin\n\n{block}" if shown else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *([_text(str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(text: str) -> str:
    """Text of others on one line, and no markup in it that ends a cell or begins a tag."""
    line = "".join(character if character.isprintable() else " " for character in text)
    return line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _name(target: str) -> str:
    """The last part of a folder, or of a fingerprint its name; a Hub's `owner/name` as it is."""
    if FINGERPRINT.fullmatch(target):
        return target.rpartition("@")[0]
    return target if target.count("/") == 1 and not target.startswith((".", "/")) else Path(target).name


def _target_folder(lineage: Mapping[str, Any], measured: Mapping[str, Any] | None) -> str:
    """Where the target lay when it was last used with this drafter."""
    folder = (measured or {}).get("target") or lineage.get("config", {}).get("target")
    target = str(lineage.get("target", ""))
    return str(folder or ("" if FINGERPRINT.fullmatch(target) else target))


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""


def _product(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
