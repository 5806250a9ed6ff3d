"""One answer as its file has it, whole: where this host has the file."""

from pathlib import Path

from django.conf import settings

from eagle3web.models import Answer
from pipeline.artifacts import Home
from pipeline.errors import DataError
from pipeline.responses.index import part_name
from pipeline.responses.record import Response


class AnswerAwayError(Exception):
    """The whole answer cannot be read from here; the text says why, for a person."""


def whole_answer(answer: Answer) -> Response:
    """Read the line that the row was made from. Raises AnswerAwayError where it is not on this host, or not any more."""
    folder = Home(Path(settings.EAGLE3_HOME)).responses(answer.project.slug) / Path(answer.dataset).name
    path = folder / part_name(answer.part)
    try:
        with path.open("rb") as file:
            file.seek(answer.offset)
            line = file.read(answer.size)
        response = Response.from_line(line)
    except FileNotFoundError as error:
        raise AnswerAwayError(f"{path} is not on this host") from error
    except OSError as error:
        raise AnswerAwayError(f"{path} cannot be read: {error.strerror}") from error
    except DataError as error:
        raise AnswerAwayError(f"{path} has been changed since: {error}") from error
    if response.key != answer.key:
        raise AnswerAwayError(f"{path} has been changed since: another answer stands there")
    return response
