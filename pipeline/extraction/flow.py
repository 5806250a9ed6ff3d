"""The extraction stage: the target reads every answer once, and its hidden states go to shards."""

import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.artifacts import read_json
from pipeline.drafter_events import ShardWritten
from pipeline.errors import DataError, InterruptedRunError
from pipeline.events import Warned
from pipeline.extraction.answers import Answer, Limits, read_answers
from pipeline.extraction.config import ExtractConfig
from pipeline.extraction.documents import read_what_fits
from pipeline.extraction.forecast import require_room
from pipeline.extraction.padding import length_batches
from pipeline.extraction.provenance import answers_inputs, greedy_datasets
from pipeline.extraction.pulse import Pulse
from pipeline.extraction.sglang_target import SglangTarget
from pipeline.extraction.shares import own
from pipeline.extraction.states import Target
from pipeline.extraction.tally import EXPECTED_SHARE, Tally
from pipeline.extraction.target import load_target
from pipeline.folder_lock import FolderLock
from pipeline.shard_damage import set_damaged_aside
from pipeline.shard_layout import DTYPES, Layout
from pipeline.shards import ShardWriter, list_documents
from pipeline.stage import Outcome, Stage
from pipeline.target_layout import target_layout

PROGRESS_S = 0.5


class Extraction:
    def __init__(self, config: ExtractConfig, stage: Stage) -> None:
        self._config = config
        self._stage = stage
        self._pulse = Pulse(stage)
        self._folder = Path(config.hidden)
        self._dtype = DTYPES[config.storage_dtype]
        self._told = 0.0
        self._excluded = 0

    async def run(self) -> Outcome:
        """Do the whole extraction, in this thread. Raises PipelineError and OSError; finished shards are valid then."""
        config = self._config
        with self._pulse.hearing_signals():
            layout = target_layout(Path(config.target), feature_layers=config.feature_layers, dtype=config.storage_dtype)
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(self._folder)
            try:
                return self._fill(layout)
            finally:
                lock.release()

    def _fill(self, layout: Layout) -> Outcome:
        for text in set_damaged_aside(self._folder):
            self._stage.emit(Warned(text=text))
        writer = ShardWriter(self._folder, layout, shard_bytes=self._config.shard_bytes)
        answers, tally = self._take_stock(layout)
        todo = [answer for answer in answers if (answer.dataset, answer.name) not in writer.done]
        require_room(self._folder, layout, sum(answer.tokens for answer in todo))
        self._tell(tally, at_once=True)
        if todo:
            target = self._load(layout)
            tally.start()
            try:
                self._extract(todo, target, writer, tally)
            except InterruptedRunError:
                self._written(writer.flush())
                self._tell(tally, at_once=True)
                raise
            self._written(writer.flush())
        self._tell(tally, at_once=True)
        return self._conclude(layout, writer, tally)

    def _take_stock(self, layout: Layout) -> tuple[list[Answer], Tally]:
        """The usable answers, and what earlier attempts left of them."""
        config = self._config
        limits = Limits(vocab_size=layout.vocab_size, max_length=config.max_length)
        reading = read_answers(
            Path(config.responses),
            config.datasets,
            limits,
            warn=self._stage.emit,
            pulse=self._pulse,
            exclusions=config.exclusions,
        )
        self._excluded = reading.excluded
        answers = own(reading.answers, config.part, config.parts)
        names = {(answer.dataset, answer.name) for answer in answers}
        there = list_documents(self._folder)
        if len(own(there, config.part, config.parts)) != len(there):
            raise DataError(f"{self._folder}: holds states of other answers than those of part {config.part} of {config.parts}")
        stored = [document for document in there if (document.dataset, document.name) in names]
        tally = Tally(answers, stored, skipped=reading.skipped, token_bytes=layout.bytes_per_token)
        return answers, tally

    def _load(self, layout: Layout) -> Target:
        config = self._config

        def load() -> Target:
            if config.server:
                return SglangTarget(config.server, Path(config.states), target=Path(config.target), layout=layout)
            return load_target(
                Path(config.target),
                layout,
                max_length=config.max_length,
                device=config.device,
                dtype=config.compute_dtype,
                trust_remote_code=config.trust_remote_code,
            )

        target = self._pulse.during(load, doing="loading the target model")
        target.on_layer = self._pulse
        return target

    def _extract(self, answers: Sequence[Answer], target: Target, writer: ShardWriter, tally: Tally) -> None:
        def leave_out(answer: Answer, reason: str) -> None:
            tally.skip(answer.tokens)
            self._stage.emit(Warned(text=f"prompt {answer.name}: {reason}; it is left out", dataset=answer.dataset))

        lengths = [answer.tokens for answer in answers]
        for batch in length_batches(lengths, batch_tokens=self._config.batch_tokens):
            chosen = {(answers[index].dataset, answers[index].name): answers[index] for index in batch}
            for document in read_what_fits(target, list(chosen.values()), self._dtype, leave_out):
                try:
                    shard = writer.add(document)
                except DataError as error:
                    leave_out(chosen[document.dataset, document.name], str(error))
                    continue
                tally.add(document)
                self._written(shard)
            self._pulse()
            self._tell(tally)

    def _written(self, shard: Path | None) -> None:
        if shard is None:
            return
        index = read_json(shard.with_suffix(".json"))
        tokens = sum(document["tokens"] for document in index["documents"])
        documents = len(index["documents"])
        self._stage.emit(ShardWritten(shard=shard.name, documents=documents, tokens=tokens, bytes=index["bytes"]))

    def _tell(self, tally: Tally, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._told >= PROGRESS_S:
            self._told = now
            self._stage.emit(tally.progress())

    def _conclude(self, layout: Layout, writer: ShardWriter, tally: Tally) -> Outcome:
        """Say how much of the answers the states give back, and write the manifest: only now is the extraction finished."""
        responses, sets = Path(self._config.responses), self._config.datasets
        shares = tally.shares()
        for dataset in sorted(greedy_datasets(responses, sets) & set(shares)):
            if shares[dataset] < EXPECTED_SHARE:
                text = (
                    f"the states give back only {shares[dataset]:.1%} of the generated tokens as the most likely ones, and "
                    "the answers are greedy: were they generated by another model, or with other weights?"
                )
                self._stage.emit(Warned(text=text, dataset=dataset))
        inputs = answers_inputs(responses, sets, self._pulse) | {"target": layout.target}
        share = {"part": self._config.part, "parts": self._config.parts}
        manifest = writer.finish(inputs=inputs, share=share if self._config.parts > 1 else None)
        counts = {name: manifest[name] for name in ("documents", "tokens", "supervised", "bytes")}
        return Outcome(
            summary=counts
            | {
                "folder": str(self._folder),
                "skipped": tally.skipped,
                "excluded": self._excluded,
                "exclusion_list": self._config.exclusions.hash,
                "last_hidden": layout.last_hidden,
                "reproduced": {dataset: round(share, 4) for dataset, share in shares.items()},
            }
        )
