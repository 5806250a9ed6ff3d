"""The config of an attempt: its run's, with what is known only when it starts."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from eagle3web.domain.engine_hosts import check_engine_host
from eagle3web.domain.exclusions import exclusions_of_attempt
from eagle3web.domain.plans.configs import with_trust
from eagle3web.domain.plans.devices import ANY_DEVICE, device_of, several
from eagle3web.domain.plans.extract import server_address
from eagle3web.domain.plans.generate import with_changes
from eagle3web.domain.plans.serve import with_swaps
from eagle3web.enums import InputKind, Stage
from eagle3web.models import Checkpoint, Run, RunInput
from eagle3web.models.engine import validate_base_url
from pipeline.artifacts import Home
from pipeline.errors import ConfigError


def attempt_config(run: Run, *, devices: Sequence[str] = ()) -> dict[str, Any]:
    """The config of the run's next attempt, which holds `devices`.

    A generation follows what people changed since the run was made. The other stages learn the folders that carry the run's
    number, those that read answers which of them people excluded, and a benchmark the best checkpoint of the training run that
    it waited for. Whether code of the target may run is what the project says now. Raises ConfigError when there is none.
    """
    home, project = Home(settings.EAGLE3_HOME), run.project.slug
    known: dict[str, Any] = dict(run.config)
    match run.stage:
        case Stage.GENERATE:
            known = with_changes(run)
        case Stage.EXTRACT:
            known["hidden"] = str(home.hidden(project, run.pk))
            known["exclusions"] = exclusions_of_attempt(run)
            known |= server_address(run) if known.get("server") else {}
        case Stage.TRAIN:
            known["checkpoints"] = str(home.checkpoints(project, run.pk))
            known["exclusions"] = exclusions_of_attempt(run)
            known["devices"] = several(devices)
        case Stage.BENCHMARK:
            known |= {"output": str(home.benchmarks(project, run.pk))} | _best_drafter(run)
        case Stage.SERVE:
            known = with_swaps(run) | {"devices": list(devices)}
    if known.get("responses"):
        # Where this host has them: a home that was moved or copied must not write into the one that it came from.
        known["responses"] = str(home.responses(project))
    if ANY_DEVICE in run.devices and "device" in known and run.stage != Stage.SERVE:
        # Only extraction spreads a model over several.
        known["device"] = device_of(devices if run.stage == Stage.EXTRACT else devices[:1])
    _check_engines(known)
    return with_trust(run.project, known)


def _check_engines(config: Mapping[str, Any]) -> None:
    """Engines are where an administrator allows them, whoever named them, and still now. Raises ConfigError."""
    served = [mode["engine"] for mode in config.get("served") or ()]
    addresses = [engine["url"] for engine in [*(config.get("engines") or ()), *served]]
    for url in [*addresses, config.get("server")]:
        try:
            if url:
                validate_base_url(url)
                check_engine_host(url)
        except (ValueError, ValidationError) as error:
            said = error.message if isinstance(error, ValidationError) else error
            raise ConfigError(f"engine at {url[:100]}: {said}") from error


def _best_drafter(run: Run) -> dict[str, str]:
    """The checkpoint that a benchmark of a training run's best one means by now; nothing for one that names its own."""
    taken = RunInput.objects.filter(run=run, kind=InputKind.CHECKPOINT).exclude(source=None).select_related("source").first()
    if taken is None or taken.source is None or "step" in taken.ref:
        return {}
    saved = Checkpoint.objects.filter(run=taken.source, removed_at=None)
    best = saved.filter(best=True).order_by("step").last() or saved.order_by("step").last()
    if best is None:
        raise ConfigError(f"{taken.source} saved no checkpoint: there is nothing to measure")
    return {"drafter": best.path, "drafter_name": f"r{taken.source.pk} step {best.step}"}
