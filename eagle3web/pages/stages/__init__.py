"""The stages' parts of a run's page, one module each."""

from eagle3web.enums import Stage
from eagle3web.pages.stages import benchmark, extraction, generation, serving, training
from eagle3web.pages.stages.base import StagePart

PARTS: dict[str, StagePart] = {
    Stage.GENERATE: generation.PART,
    Stage.EXTRACT: extraction.PART,
    Stage.TRAIN: training.PART,
    Stage.BENCHMARK: benchmark.PART,
    Stage.SERVE: serving.PART,
}

__all__ = ["PARTS", "StagePart"]
