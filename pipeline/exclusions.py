"""Answers that people judged unfit for training: a list in the config of what reads answers, named by its hash."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.artifacts import config_hash
from pipeline.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class ExcludedAnswers:
    """Of one dataset."""

    dataset: str
    keys: tuple[str, ...]
    """Of the prompts; whatever was answered to them, however it was sampled, is left out."""


@dataclass(frozen=True, kw_only=True)
class Exclusions:
    """What a stage leaves out. They count as generated all the same: no budget is reopened by them."""

    answers: tuple[ExcludedAnswers, ...] = ()
    hash: str = ""
    """`list_hash` of `answers`, so that what was made can name the list; empty without any."""
    by: tuple[str, ...] = ()
    """Who decided."""

    def __post_init__(self) -> None:
        """Raises ConfigError for a list that is not the one its hash names."""
        expected = list_hash(self.answers)
        if self.hash != expected:
            raise ConfigError(f"exclusions: the hash says {self.hash!r}, and the list is {expected!r}; it was edited")

    @classmethod
    def of(cls, keys: Mapping[str, Iterable[str]], *, by: Iterable[str] = ()) -> "Exclusions":
        """From dataset → keys, in any order."""
        answers = tuple(ExcludedAnswers(dataset=name, keys=tuple(sorted(set(keys[name])))) for name in sorted(keys))
        answers = tuple(row for row in answers if row.keys)
        return cls(answers=answers, hash=list_hash(answers), by=tuple(sorted(set(by))) if answers else ())

    def keys_of(self, dataset: str) -> frozenset[str]:
        return frozenset(key for row in self.answers if row.dataset == dataset for key in row.keys)

    @property
    def count(self) -> int:
        return sum(len(row.keys) for row in self.answers)

    def words(self, excluded: int) -> str:
        """What is said of `excluded` answers of one dataset: `3 answers excluded by ada (list 3be1c07a)`."""
        return described(excluded, listed=self.hash, by=self.by)


def described(excluded: int, *, listed: str, by: Iterable[str]) -> str:
    """As `Exclusions.words`, for whoever has not the list itself."""
    people = ", ".join(by)
    who = f" by {people}" if people else ""
    return f"{excluded:,} answer{'s' if excluded != 1 else ''} excluded{who} (list {listed})"


def list_hash(answers: Iterable[ExcludedAnswers]) -> str:
    """Eight hexadecimal digits: equal lists, equal name, whatever their order. Empty for an empty list."""
    found = {row.dataset: sorted(row.keys) for row in answers if row.keys}
    return config_hash(found) if found else ""
