"""The answers to read, from a project's folder of responses: what is usable, and by name what is not."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from pipeline.answer_sets import AnswerSet
from pipeline.errors import DataError
from pipeline.events import Warned
from pipeline.exclusions import Exclusions
from pipeline.responses.index import part_paths
from pipeline.responses.record import Response
from pipeline.responses.scan import scan_parts

NAMED = 20
"""Answers of one dataset that are left out for one reason and named; of further ones their number is told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A prompt and its answer, as a DocumentEntry: token ids alone, for millions of them stay in memory."""

    dataset: str
    name: str
    """The prompt's key."""
    ids: "array[int]"
    """Prompt and answer."""
    prompt_tokens: int

    @property
    def tokens(self) -> int:
        return len(self.ids)

    @property
    def supervised(self) -> int:
        return len(self.ids) - self.prompt_tokens

    def token_ids(self) -> Tensor:
        """int64 [T]."""
        return torch.tensor(self.ids, dtype=torch.int64)

    def loss_mask(self) -> Tensor:
        """bool [T]: the token was generated."""
        return torch.arange(self.tokens) >= self.prompt_tokens


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a target can read."""

    vocab_size: int
    max_length: int


@dataclass(frozen=True, kw_only=True)
class Reading:
    answers: list[Answer]
    """In order of completion, dataset by dataset; one answer a prompt."""
    skipped: int
    """That cannot be used."""
    excluded: int = 0
    """That people took out."""


def read_answers(
    folder: Path,
    sets: Sequence[AnswerSet],
    limits: Limits,
    *,
    warn: Callable[[Warned], None],
    pulse: Callable[[], None] = lambda: None,
    exclusions: Exclusions | None = None,
) -> Reading:
    """Answers of these sets, without `exclusions`. What cannot be used is left out and named in a warning, what is excluded
    is counted in one. `pulse` is called at every line.

    Of several answers to one prompt the first counts: both would carry its name. Raises DataError for a dataset without
    answers.
    """
    answers: list[Answer] = []
    skipped = excluded = 0
    exclusions = exclusions or Exclusions()
    for chosen in sets:
        store = folder / chosen.dataset
        if not part_paths(store):
            raise DataError(f"{store}: no answers here (no part-*.jsonl)")
        warner = _Warner(chosen.dataset, warn)
        found: dict[str, Answer] = {}
        for answer in _usable(store, chosen, limits, warner):
            pulse()
            if answer is not None:
                found.setdefault(answer.name, answer)
        warner.close()
        unwanted = found.keys() & exclusions.keys_of(chosen.dataset)
        if unwanted:
            warn(Warned(text=exclusions.words(len(unwanted)), dataset=chosen.dataset))
        answers += (answer for name, answer in found.items() if name not in unwanted)
        skipped += warner.total
        excluded += len(unwanted)
    return Reading(answers=answers, skipped=skipped, excluded=excluded)


def _usable(store: Path, chosen: AnswerSet, limits: Limits, warner: "_Warner") -> Iterator[Answer | None]:
    """One entry a line of the store, None for a line that is left out."""
    for line in scan_parts(store):
        where = f"{line.path}, line {line.number}"
        response = line.response
        if response is None:
            if not line.torn:  # else its writer is at work, or was killed: there is no answer yet
                warner.skip("unreadable", f"{where}: {line.problem}")
            yield None
        elif response.revision != chosen.revision or chosen.sampling not in ("", response.sampling):
            yield None
        else:
            try:
                yield _answer(response, chosen.dataset, limits)
            except _UnusableError as error:
                warner.skip(error.reason, f"{where}: answer to prompt {response.key!s:.100}: {error}")
                yield None


class _UnusableError(DataError):
    def __init__(self, reason: str, detail: str) -> None:
        """`reason`: two words under which such records are counted."""
        super().__init__(detail)
        self.reason = reason


def _answer(response: Response, dataset: str, limits: Limits) -> Answer:
    """Raises _UnusableError for a record that cannot be read by the target; it may have been edited by hand."""
    if not isinstance(response.key, str):
        raise _UnusableError("bad key", "its key is no text")
    if not response.output_ids:
        raise _UnusableError("no output_ids", "no output_ids: its engine returned text alone, not the tokens that it sampled")
    try:
        ids = array("i", response.prompt_ids)
        prompt_tokens = len(ids)
        ids.extend(array("i", response.output_ids))
    except (TypeError, OverflowError) as error:
        raise _UnusableError("bad ids", f"prompt_ids or output_ids hold something else than token ids: {error}") from error
    if not prompt_tokens:
        raise _UnusableError("bad ids", "prompt_ids are empty")
    lowest, highest = min(ids), max(ids)
    if lowest < 0 or highest >= limits.vocab_size:
        worst = lowest if lowest < 0 else highest
        raise _UnusableError("bad ids", f"token id {worst} is outside the vocabulary of {limits.vocab_size:,}")
    if response.completion_tokens != len(response.output_ids):
        said = f"{response.completion_tokens!s:.20}"
        raise _UnusableError("other length", f"{len(response.output_ids):,} output_ids, and completion_tokens says {said}")
    if len(ids) > limits.max_length:
        raise _UnusableError("too long", f"{len(ids):,} tokens, more than max_length {limits.max_length:,}")
    return Answer(dataset=dataset, name=response.key, ids=ids, prompt_tokens=prompt_tokens)


class _Warner:
    """Names what is left out of one dataset, and counts on where that would be a flood."""

    def __init__(self, dataset: str, warn: Callable[[Warned], None]) -> None:
        self._dataset = dataset
        self._warn = warn
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        return self._counts.total()

    def skip(self, reason: str, text: str) -> None:
        self._counts[reason] += 1
        if self._counts[reason] <= NAMED:
            self._warn(Warned(text=f"{text}; it is left out", dataset=self._dataset))

    def close(self) -> None:
        for reason, count in self._counts.items():
            if count > NAMED:
                self._warn(Warned(text=f"{count - NAMED:,} more left out ({reason})", dataset=self._dataset))
