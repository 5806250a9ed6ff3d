"""The pages' copies of answers, and what people flagged."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from eagle3web.enums import FlagState
from eagle3web.models import Answer, AnswerFile, AnswerFlag
from eagle3web.scale.project import Place
from eagle3web.scale.rows import Advance, write

TOPICS = ("merge intervals", "prime numbers", "a letter to a neighbour", "the weather", "matrix products", "a short story")
LANGUAGES = ("Latin", "Latin", "Latin", "code", "Han", "Cyrillic")
TEXT = "First look at what is given. Then say what follows from it, step by step, and check the result. "
FLAGGED_EVERY = 500


def make_answers(place: Place, count: int, now: datetime, chance: random.Random, advance: Advance) -> None:
    """`count` answers over all datasets; one of FLAGGED_EVERY is flagged."""
    write(Answer, _answers(place, count, now, chance), advance)
    write(AnswerFlag, _flags(place, count), lambda n: None)
    write(AnswerFile, _files(place, count), lambda n: None)


def _answers(place: Place, count: int, now: datetime, chance: random.Random) -> Iterator[Answer]:
    for n in range(count):
        tokens = min(8192, int(chance.lognormvariate(6.5, 1.0)))
        failed, cut = n % 300 == 0, tokens == 8192
        yield Answer(
            project=place.project, dataset=_dataset(place, n), key=f"{n:016x}", scope="0" * 16, prompt_id=f"row-{n}",
            prompt=f"Please write about {TOPICS[n % len(TOPICS)]}, number {n}.", text="" if failed else TEXT * (n % 5 + 1),
            error="HTTP 500 from the engine" if failed else "", finish_reason="" if failed else "length" if cut else "stop",
            prompt_tokens=20 + n % 200, tokens=0 if failed else tokens, repetition=round(chance.random() ** 4, 4),
            language=LANGUAGES[n % len(LANGUAGES)], part=1 + n // 10_000, offset=(n % 10_000) * 2000, size=2000,
            engine=place.engines[n % len(place.engines)].name, finished_at=now - timedelta(seconds=count - n),
        )  # fmt: skip


def _flags(place: Place, count: int) -> Iterator[AnswerFlag]:
    states = list(FlagState)
    for n in range(0, count, FLAGGED_EVERY):
        yield AnswerFlag(
            project=place.project, dataset=_dataset(place, n), key=f"{n:016x}", state=states[n // FLAGGED_EVERY % len(states)],
            reason="repeats itself", author=place.people[0],
        )  # fmt: skip


def _files(place: Place, count: int) -> Iterator[AnswerFile]:
    """As if the first part of each dataset had been copied; the list of answers offers the datasets that have one."""
    for n, dataset in enumerate(place.datasets[:count]):
        lines = len(range(n, count, len(place.datasets)))
        yield AnswerFile(project=place.project, dataset=dataset.slug, name="part-00001.jsonl", bytes_done=lines * 2000)


def _dataset(place: Place, n: int) -> str:
    return place.datasets[n % len(place.datasets)].slug
