"""One line of a response part, or of a failures file, as an Answer row: cut to what lists and searches need."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from eagle3web.domain.answer_traits import language, repetition
from eagle3web.domain.event_lines import clean
from eagle3web.domain.fitting import fit
from eagle3web.models import Answer
from pipeline.errors import DataError
from pipeline.responses.record import Failure, Response, Scope
from pipeline.responses.scan import PartLine

PROMPT_LIMIT = 500
TEXT_LIMIT = 4000
"""Characters; the file keeps the rest."""
KEY_LIMIT = 64
"""An import's keys have 16 characters; a key that does not fit could not name its answer."""


def row_of_answer(project_id: int, dataset: str, line: PartLine) -> Answer:
    """Raises DataError for a line that is no answer: it may have been edited by hand, or its writer may have been killed."""
    if line.response is None:
        raise DataError(line.problem)
    response = line.response
    try:
        return _row_of_response(project_id, dataset, response, line)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"its fields are not as they should be: {error}") from error


def row_of_failure(project_id: int, dataset: str, raw: bytes) -> Answer:
    """Raises DataError for a line that is no failure."""
    failure = Failure.from_line(raw)
    return Answer(
        project_id=project_id,
        dataset=dataset,
        key=_key(failure.key),
        scope=_scope(failure),
        prompt_id=_text(failure.id, 200),
        error=_text(failure.reason, 500) or "no reason is known",
        finished_at=_moment(failure.failed_at),
    )


def _row_of_response(project_id: int, dataset: str, response: Response, line: PartLine) -> Answer:
    prompt, text = last_user_message(response.messages), str(response.text)
    return Answer(
        project_id=project_id,
        dataset=dataset,
        key=_key(response.key),
        scope=_scope(response),
        prompt_id=_text(response.id, 200),
        prompt=_text(prompt, PROMPT_LIMIT),
        text=_text(text, TEXT_LIMIT),
        cut=len(prompt) > PROMPT_LIMIT or len(text) > TEXT_LIMIT,
        # Never empty: that is how a prompt without an answer is told.
        finish_reason=_text(response.finish_reason, 10) or "other",
        prompt_tokens=fit(int(response.prompt_tokens)),
        tokens=fit(int(response.completion_tokens)),
        repetition=repetition(response.output_ids or text.split()),
        language=_text(language(text), 20),
        part=line.part,
        offset=line.offset,
        size=line.size,
        engine=_text(response.engine, 80),
        finished_at=_moment(response.finished_at),
    )


def last_user_message(messages: Sequence[Mapping[str, Any]]) -> str:
    """What the answer is to; empty for a prompt of bare token ids."""
    return message_text(next((message for message in reversed(messages) if message.get("role") == "user"), {}))


def message_text(message: Mapping[str, Any]) -> str:
    """Of content in parts the texts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _key(key: object) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= KEY_LIMIT or clean(key) != key:
        raise DataError(f"the key {key!s:.80} cannot name an answer")
    return key


def _scope(record: Response | Failure) -> str:
    return Scope(dataset=record.dataset, revision=record.revision, sampling=record.sampling).digest.hex()


def _text(value: object, limit: int) -> str:
    """Cut, and without what PostgreSQL cannot store."""
    found: str = clean(str(value)[:limit])
    return found


def _moment(stamp: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(stamp))
    except ValueError:
        return None
    return found if found.tzinfo else None
