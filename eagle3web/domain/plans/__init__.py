"""Configs of runs: what a person chose and what the project says, made into the JSON that a stage reads."""

from eagle3web.domain.plans.benchmark import benchmark_config
from eagle3web.domain.plans.configs import CONFIGS, validate, with_trust
from eagle3web.domain.plans.extract import extract_config
from eagle3web.domain.plans.generate import generate_config, latest_revision
from eagle3web.domain.plans.of_attempt import attempt_config
from eagle3web.domain.plans.serve import serve_config
from eagle3web.domain.plans.train import train_config

__all__ = [
    "CONFIGS",
    "attempt_config",
    "benchmark_config",
    "extract_config",
    "generate_config",
    "latest_revision",
    "serve_config",
    "train_config",
    "validate",
    "with_trust",
]
