"""What a run is made of and what is made of it, as a graph: datasets → generate → extract → train → checkpoint → benchmark."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from eagle3web.enums import InputKind, Stage
from eagle3web.formats import count, times, tokens
from eagle3web.models import BenchmarkRow, Checkpoint, Pruned, Run, RunInput
from eagle3web.pages.graph import Drawing, Node, draw
from eagle3web.queries import lineage, pruned

COLUMNS = ("datasets", Stage.GENERATE, Stage.EXTRACT, Stage.TRAIN, "checkpoint", Stage.BENCHMARK, Stage.SERVE)


@dataclass(frozen=True, kw_only=True)
class Lineage:
    drawing: Drawing
    nodes: list[Node]
    """In the order of the data, for the list behind the drawing."""
    more: int
    """Runs that are left out."""


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What the runs of a family gave."""

    tokens: dict[int, int]
    speedups: dict[int, BenchmarkRow]
    checkpoints: list[Checkpoint]
    measured: dict[int, str]
    exclusions: dict[int, str]
    pruned: dict[int, Pruned]
    """Extraction → when its hidden states went."""
    pruned_checkpoints: set[int]
    looked_at: int | None
    """The checkpoint that the page is about."""


def lineage_of(run_id: int, *, checkpoint_id: int | None = None) -> Lineage:
    """The family of a run, seen from that run, or from a checkpoint of it. About a dozen queries, however large it is."""
    family = lineage.family(run_id)
    of_stage = {stage: [run.pk for run in family.runs if run.stage == stage] for stage in Stage}
    checkpoints = lineage.checkpoints_of(of_stage[Stage.TRAIN])
    facts = _Facts(
        tokens=lineage.tokens_of(of_stage[Stage.GENERATE]),
        speedups=lineage.speedups_of(of_stage[Stage.BENCHMARK]),
        checkpoints=checkpoints,
        measured=lineage.drafters_measured(of_stage[Stage.BENCHMARK]),
        exclusions=lineage.exclusions_of(of_stage[Stage.EXTRACT] + of_stage[Stage.TRAIN]),
        pruned=pruned.shards_of_runs(of_stage[Stage.EXTRACT]),
        pruned_checkpoints=pruned.of_checkpoints(row.pk for row in checkpoints if row.removed_at),
        looked_at=checkpoint_id,
    )
    nodes = [_run_node(run, facts) for run in family.runs]
    nodes += _dataset_nodes(family.inputs, [run for run in family.runs if run.stage == Stage.GENERATE])
    nodes += _checkpoint_nodes([run for run in family.runs if run.stage == Stage.TRAIN], family.inputs, facts)
    here = f"c{checkpoint_id}" if checkpoint_id else f"r{run_id}"
    ordered = sorted((replace(node, here=node.key == here) for node in nodes), key=lambda node: (node.column, node.order))
    return Lineage(drawing=draw(ordered, _edges(family.inputs, ordered, facts)), nodes=ordered, more=family.more)


def _run_node(run: Run, facts: _Facts) -> Node:
    fact, words = "", str(run.status)
    if run.pk in facts.tokens:
        fact = f"{tokens(facts.tokens[run.pk])} tok"
    elif (row := facts.speedups.get(run.pk)) is not None:
        fact = times(row.speedup)
    left_out = facts.exclusions.get(run.pk)
    notes = (left_out,) if left_out else ()
    if (gone := facts.pruned.get(run.pk)) is not None:
        words, notes = "states pruned", (*notes, f"hidden states pruned on {gone.decided_at:%Y-%m-%d}: {gone.policy}")
    return Node(
        key=f"r{run.pk}", column=COLUMNS.index(run.stage) if run.stage in COLUMNS else 0, order=run.pk,
        title=f"r{run.pk} {run.stage}", state=run.status, words=words, fact=fact, href=reverse("run", args=[run.pk]),
        notes=notes,
    )  # fmt: skip


def _dataset_nodes(inputs: Iterable[RunInput], runs: Sequence[Run]) -> list[Node]:
    """One for each generation: the prompts that it asks."""
    generations = {run.pk for run in runs}
    found = []
    for row in inputs:
        if row.kind == InputKind.PROMPTS and row.run_id in generations and row.ref:
            slugs = sorted(row.ref)
            title = slugs[0] if len(slugs) == 1 else f"{count(len(slugs))} datasets"
            place = reverse("dataset", args=slugs) if len(slugs) == 1 else reverse("datasets")
            notes = tuple(f"{slug} {row.ref[slug][:12]}" for slug in slugs)
            found.append(
                Node(
                    key=f"d{row.run_id}", column=0, order=row.run_id, title=title, state="ready", words="prompts", fact="",
                    href=place, notes=notes,
                )
            )  # fmt: skip
    return found


def _checkpoint_nodes(runs: Sequence[Run], inputs: Sequence[RunInput], facts: _Facts) -> list[Node]:
    """Of each training run the best checkpoint, those that benchmarks measured, and the one that the page is about; one to come
    while there is none."""
    measured = set(facts.measured.values())
    found = []
    for run in runs:
        saved = [row for row in facts.checkpoints if row.run_id == run.pk]
        shown = [
            row for row in saved if row.best or lineage.below_home(row.path) in measured or row.pk == facts.looked_at
        ] or saved[-1:]
        found += [_checkpoint_node(row, is_pruned=row.pk in facts.pruned_checkpoints) for row in shown]
        if not shown and any(row.source_id == run.pk for row in inputs):
            found.append(
                Node(key=f"t{run.pk}", column=4, order=run.pk, title="checkpoint", state="pending", words="to come", fact="")
            )
    return found


def _checkpoint_node(row: Checkpoint, *, is_pruned: bool) -> Node:
    measured = row.metrics.get("accept_length")
    state = "stopped" if row.removed_at else "finished"
    gone = "pruned" if is_pruned else "removed"
    words = gone if row.removed_at else "promoted" if row.promoted else "best" if row.best else "saved"
    return Node(
        key=f"c{row.pk}", column=4, order=row.run_id + row.step / 10**12, title=f"step {count(row.step)}", state=state,
        words=words, fact=f"accept {measured:.2f}" if isinstance(measured, float) else "", href=_place(row),
    )  # fmt: skip


def _place(row: Checkpoint) -> str:
    return reverse("checkpoint", args=[row.pk])


def _edges(inputs: Iterable[RunInput], nodes: Sequence[Node], facts: _Facts) -> list[tuple[str, str]]:
    """Pairs of keys; what a benchmark measures goes through the checkpoint's node."""
    keys = {node.key for node in nodes}
    by_folder = {lineage.below_home(row.path): f"c{row.pk}" for row in facts.checkpoints}
    found = [(f"r{row.run_id}", f"c{row.pk}") for row in facts.checkpoints]
    found += [(key.replace("t", "r"), key) for key in keys if key.startswith("t")]
    best = {row.run_id: f"c{row.pk}" for row in facts.checkpoints if f"c{row.pk}" in keys}
    for row in inputs:
        if row.kind == InputKind.PROMPTS:
            found.append((f"d{row.run_id}", f"r{row.run_id}"))
        elif row.kind == InputKind.CHECKPOINT and row.source_id is not None:
            chosen = by_folder.get(facts.measured.get(row.run_id, ""))
            found.append((chosen or best.get(row.source_id) or f"t{row.source_id}", f"r{row.run_id}"))
        else:
            found.append((f"r{row.source_id}", f"r{row.run_id}"))
    return [(start, end) for start, end in dict.fromkeys(found) if start in keys and end in keys]
