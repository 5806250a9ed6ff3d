"""Eight datasets with long-tailed answers and a token budget each: one flow without barriers, against one after the other.

    python bench/budget_idle.py [--slots 64] [--budget 1000000] [--repeats 5] [--json]

Simulated time over the real admission arithmetic. Three ways to run the same prompts:

* flow       one flow over all datasets, admission against the expected tokens in flight (what this project does)
* barrier    the same admission, but a dataset starts when the one before it has ended
* script     as scripts do it: send while the tokens done are below the budget, then wait for the rest, then the next dataset

Ratios are medians over repeats with other lengths. Exit code 1 when the flow does not save 1.3× of the script's wall time, or
overshoots a budget by more than one answer or 0.5 %.
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from pipeline.admission import OVERSHOOT, Quota, by_order
from pipeline.budget import Target
from pipeline.lengths import AnswerLengths
from tests.support.simulation import SimulatedEngine, long_tailed

GOAL = 1.3
SIGMA = 1.0
CAP = 16_384
MEANS = (1100, 3000, 2500, 4100, 1200, 1400, 5200, 3900)
"""Mean completion tokens of the eight datasets."""


class ScriptQuota(Quota):
    """What a script does: it looks at what is done, and not at what is in flight."""

    def admits(self, now: float) -> bool:
        return self.reason is None


@dataclass(frozen=True, kw_only=True)
class Measured:
    wall_s: float
    idle: float
    """Share of slot time in which no answer was written."""
    overshoot: float
    """Largest of the eight, in units of what is allowed: one answer or 0.5 % of the budget."""
    extra_tokens: float
    """Tokens above all budgets, as a share of them."""


def quotas(kind: type[Quota], budget: int) -> list[Quota]:
    return [kind(Target(tokens=budget), AnswerLengths(CAP), prompts=10**6) for _ in MEANS]


def one_flow(made: Sequence[Quota]) -> Callable[[], Sequence[int]]:
    return lambda: by_order("sequential", made)


def with_barriers(made: Sequence[Quota]) -> Callable[[], Sequence[int]]:
    """Only the first dataset that has not ended is offered a slot."""
    return lambda: [next((i for i, quota in enumerate(made) if quota.reason is None or quota.in_flight), 0)]


def measure(
    kind: type[Quota], offer: Callable[[Sequence[Quota]], Callable[[], Sequence[int]]], args: argparse.Namespace, seed: int
) -> Measured:
    rng = random.Random(seed)
    lengths = [long_tailed(rng, int(2 * args.budget / mean) + 500, mean=mean, sigma=SIGMA, cap=CAP) for mean in MEANS]
    made = quotas(kind, args.budget)
    outcome = SimulatedEngine(slots=args.slots, rng=rng).run(made, lengths, offer(made))
    over = [quota.lengths.tokens - args.budget for quota in made]
    allowed = [max(OVERSHOOT * args.budget, quota.lengths.longest) for quota in made]
    return Measured(
        wall_s=outcome.wall_s,
        idle=outcome.idle,
        overshoot=max(o / a for o, a in zip(over, allowed, strict=True)),
        extra_tokens=sum(over) / (args.budget * len(MEANS)),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=64, help="answers that the engines write at once (default: 64)")
    parser.add_argument("--budget", type=int, default=1_000_000, help="completion tokens for each dataset (default: 1 M)")
    parser.add_argument("--repeats", type=int, default=5, help="runs with other lengths (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    ways = {"flow": (Quota, one_flow), "barrier": (Quota, with_barriers), "script": (ScriptQuota, with_barriers)}
    runs = {name: [measure(*way, args, seed) for seed in range(args.repeats)] for name, way in ways.items()}
    walls = {name: statistics.median(run.wall_s for run in found) for name, found in runs.items()}
    saved = {name: walls[name] / walls["flow"] for name in ("barrier", "script")}
    worst = max(run.overshoot for run in runs["flow"])
    if args.json:
        told = {name: [asdict(run) for run in found] for name, found in runs.items()}
        print(json.dumps({"runs": told, "wall_over_flow": saved, "worst_overshoot": worst, "goal": GOAL}))
    else:
        print(f"{args.slots} slots, {len(MEANS)} datasets of {args.budget:,} tokens, longest answer {CAP:,}")
        print(f"{'':8} {'wall':>9} {'idle':>6} {'extra tokens':>13} {'worst overshoot':>16}")
        for name, found in runs.items():
            idle, extra = (statistics.median(getattr(run, key) for run in found) for key in ("idle", "extra_tokens"))
            over = max(run.overshoot for run in found)
            print(f"{name:8} {walls[name]:8.0f}s {idle:6.1%} {extra:13.2%} {over:15.2f}×")
        for name, ratio in saved.items():
            print(f"wall time of {name} over flow: {ratio:.2f}×")
    return 0 if saved["script"] >= GOAL and worst <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
