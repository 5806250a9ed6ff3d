"""Named failures. What a person reads when something goes wrong is the text of one of these."""


class PipelineError(Exception):
    """Base of every failure that a stage can explain. `str(error)` is one sentence for a person."""


class ConfigError(PipelineError):
    """A config has an unknown key, a wrong type or an impossible value."""


class DataError(PipelineError):
    """Input on disk is not what its format promises; the text names file and line."""


class DiskFullError(PipelineError):
    """The disk has no room; what was written before is valid."""


class FolderHeldError(PipelineError):
    """Another process writes to this folder; the text names it."""


class EngineError(PipelineError):
    """An inference server did not give an answer."""


class EngineUnavailableError(EngineError):
    """Connection refused, cut or timed out: worth another try elsewhere or later."""


class EngineBusyError(EngineError):
    """503: the engine's queue is full. Slow down and try again."""


class BadRequestError(EngineError):
    """400: this request can never succeed. The error of one record, not of the run."""


class AbortedError(EngineError):
    """The engine ended the request early (finish reason `abort`): the record is not written, it is tried again."""


class NoAnswerError(PipelineError):
    """A run asked prompts to their end, and has not one answer; each prompt's reason is kept with its dataset."""


class InterruptedRunError(PipelineError):
    """Somebody asked the stage to stop: its work is saved and it is not finished."""


def explained(error: Exception) -> str:
    """What a person reads of any failure: of the operating system's, the file first, and no number."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
