"""What the clients of all protocols share: request ids, health, and the rule that ids are checked before they are sent."""

import abc
import itertools
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pipeline.config import EngineRef, SamplingConfig
from pipeline.errors import BadRequestError, EngineBusyError, EngineError
from pipeline.serving.records import Answer, EngineHealth, EngineLoads, ModelInfo, Partial, PromptName
from pipeline.serving.transport import NotFoundError, TimedOutError, Transport

HEALTH_S = 5.0
ABORT_S = 5.0


def validate_ids(ids: Sequence[int], vocab_size: int | None) -> None:
    """Refuse a prompt that an engine could not survive: one id outside the vocabulary kills a whole SGLang server.

    Raises BadRequestError for an empty prompt, an id below 0 and, where the vocabulary is known, one beyond it.
    """
    if not ids:
        raise BadRequestError("the prompt has no tokens")
    lowest, highest = min(ids), max(ids)
    if lowest < 0:
        raise BadRequestError(f"token id {lowest} is negative")
    if vocab_size is not None and highest >= vocab_size:
        raise BadRequestError(f"token id {highest} is outside the vocabulary of {vocab_size}")


class EngineClient(abc.ABC):
    """One engine. Every call raises EngineUnavailableError, EngineBusyError or BadRequestError; nothing is retried here."""

    def __init__(
        self, ref: EngineRef, *, timeout_s: float, vocab_size: int | None = None, probe_timeout_s: float = 30.0
    ) -> None:
        """`timeout_s` bounds one answer. `vocab_size` None takes what `model_info` tells, if it was asked."""
        self.ref = ref
        self.name = ref.name
        self.vocab_size = vocab_size
        self._timeout_s = timeout_s
        self._probe_timeout_s = probe_timeout_s
        self._transport = Transport(ref.url, name=ref.name)
        # A server refuses an id that it still works on, and aborts by prefix: so each request gets an ending of its own.
        self._endings = (f"{secrets.token_hex(4)}{n:06x}" for n in itertools.count())
        self._sent: dict[str, str] = {}
        """Id on the wire → id of the caller, for requests without an answer."""

    @abc.abstractmethod
    async def generate(
        self,
        input_ids: Sequence[int],
        sampling: SamplingConfig,
        *,
        rid: str,
        seed: int,
        on_partial: Callable[[Partial], None] | None = None,
        prompt: PromptName | None = None,
    ) -> Answer:
        """One answer; with `on_partial` it is streamed. An engine that captures hidden states keeps them under `prompt`.

        Raises AbortedError too, when the engine ended it early."""

    @abc.abstractmethod
    async def model_info(self) -> ModelInfo:
        """What the engine serves."""

    @abc.abstractmethod
    async def loads(self) -> EngineLoads:
        """How busy the engine is."""

    @abc.abstractmethod
    async def abort(self, rid: str | None = None) -> None:
        """End this request early, or all that this client sent and has no answer for; never those of others."""

    @abc.abstractmethod
    async def _generate_one_token(self) -> None:
        """Make the engine prove that it generates, within the probe's timeout."""

    async def probe(self) -> EngineHealth:
        """Ask the engine to really generate: one that hangs still answers `/health` with 200. Never raises an EngineError."""
        started = time.perf_counter()
        try:
            await self._transport.get("/health", timeout_s=HEALTH_S)
        except EngineBusyError:
            return EngineHealth(state="starting", detail=f"{self.name}: the engine is starting")
        except TimedOutError as error:
            # Connected, and no word: SGLang's own /health waits for a token, too.
            return EngineHealth(state="hung", detail=str(error))
        except NotFoundError:
            pass  # not every OpenAI-compatible server has /health; whether it generates is asked next
        except EngineError as error:
            return EngineHealth(state="down", detail=str(error))
        try:
            await self._generate_one_token()
        except EngineBusyError:
            # A full queue is a working engine.
            return EngineHealth(state="ok", detail="queue full", latency_s=time.perf_counter() - started)
        except EngineError as error:
            return EngineHealth(state="hung", detail=str(error))
        return EngineHealth(state="ok", latency_s=time.perf_counter() - started)

    async def flush_capture(self) -> str:
        """Have the engine write the hidden states that it kept so far; why it keeps none any more, empty when all is well."""
        return ""

    async def close(self) -> None:
        await self._transport.close()

    @contextmanager
    def _sending(self, rid: str) -> Iterator[str]:
        """The id to put on the wire, remembered until the answer is there."""
        wire_id = f"{rid}~{next(self._endings)}"
        self._sent[wire_id] = rid
        try:
            yield wire_id
        finally:
            del self._sent[wire_id]
