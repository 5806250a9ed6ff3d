"""Sentences about numbers, the same on every page."""

from eagle3web.formats import count, of, tokens

REASONS = {
    "budget_met": "budget met",
    "exhausted": "no prompts left",
    "max_samples": "enough answers",
    "disabled": "switched off",
    "stopped": "stopped",
}
"""Why a dataset was skipped, or is finished."""


def goal(budget: int | None, max_samples: int | None) -> str:
    """What a dataset should reach: `10.00 M tokens, at most 500 answers`."""
    parts = [] if budget is None else [f"{tokens(budget)} tokens"]
    if max_samples is not None:
        parts.append(f"at most {count(max_samples)} answers")
    return ", ".join(parts) or "all prompts"


def ended(
    reason: str,
    *,
    done_tokens: int,
    budget: int | None,
    answers: int,
    prompts: int,
    max_samples: int | None = None,
    failed_before: int = 0,
) -> str:
    """Why a dataset was skipped or is finished, with the numbers: `budget met: 17.03 M of 10.00 M`.

    `failed_before` are prompts that gave an error in earlier runs, and that this one did not ask again.
    """
    if reason == "budget_met":
        done, wanted = of(done_tokens, budget)
        return f"budget met: {done} of {wanted} tokens"
    if reason == "max_samples":
        wanted = f" of {count(max_samples)}" if max_samples is not None else ""
        return f"enough answers: {count(answers)}{wanted}, {tokens(done_tokens)} tokens"
    if reason == "exhausted":
        failed = (
            f"; {count(failed_before)} gave an error before, a run that retries errors asks them again" if failed_before else ""
        )
        return f"no prompts left: {count(answers)} of {count(prompts)} answered, {tokens(done_tokens)} tokens{failed}"
    if reason == "disabled":
        return f"switched off; {tokens(done_tokens)} tokens are kept"
    return f"{reason or 'ended'}: {tokens(done_tokens)} tokens"
