"""`python -m pipeline train` for people at a shell: flags → a config and a folder, as the dashboard would make them."""

import argparse
from pathlib import Path

from pipeline.artifacts import AttemptFolder
from pipeline.config import from_mapping, to_mapping
from pipeline.errors import ConfigError
from pipeline.stage_cli import add_supervision_flags, new_attempt
from pipeline.training.config import CheckpointConfig, EvalConfig, LossConfig, OptimizerConfig, TrainConfig

DEFAULTS = TrainConfig(project="", target="", checkpoints="", hidden=("-",))
EPILOG = """\
examples:
  python -m pipeline train --hidden out/hidden --target models/smollm2 --draft-vocab 8192 --out out/drafter
  python -m pipeline train --folder var/runs/9/attempts/1        (an attempt's folder with its config.json)
  python -m pipeline train --devices cuda:0 cuda:1 --hidden … --target … --out …

A second call with the same --out goes on where the first one ended.
Exit status: 0 finished, 1 failed, 2 wrong arguments or config, 3 stopped on request (SIGTERM, Ctrl-C), with a checkpoint.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Train an EAGLE-3 drafter on a target's hidden states; checkpoints come in the layout that SGLang loads."
    )
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("run_folder", type=Path, nargs="?", metavar="RUN_FOLDER", help="folder of an attempt, with config.json")
    parser.add_argument("--folder", type=Path, metavar="RUN_FOLDER", help="the same")
    _add_run_flags(parser.add_argument_group("a run by flags, without a folder"))
    _add_drafter_flags(parser.add_argument_group("drafter and loss"))
    _add_optimizer_flags(parser.add_argument_group("optimisation"))
    _add_measuring_flags(parser.add_argument_group("measuring and saving"))
    add_supervision_flags(parser)


def _add_run_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--hidden", nargs="+", metavar="FOLDER", help="folders of stored hidden states")
    group.add_argument("--target", metavar="FOLDER", help="the target model; only its embedding, final norm and head are read")
    group.add_argument("--out", type=Path, metavar="FOLDER", default=Path("out/drafter"), help="where everything goes")
    group.add_argument("--project", default="", help="name in the checkpoints' lineage (default: the folder's name)")
    group.add_argument("--max-length", type=int, metavar="N", default=DEFAULTS.max_length, help="longest document in tokens")
    group.add_argument("--device", default=DEFAULTS.device, help="auto, cpu, cuda or cuda:N (default: %(default)s)")
    group.add_argument(
        "--precision", choices=("auto", "bfloat16", "float32"), default=DEFAULTS.precision, help="of the forward"
    )
    group.add_argument("--devices", nargs="+", metavar="NAME", default=[], help="several of them: one process on each")
    group.add_argument("--parallel", choices=("ddp", "fsdp2"), default=DEFAULTS.parallel, help="with several processes")
    group.add_argument("--seed", type=int, default=DEFAULTS.seed, help="of weights and data order (default: %(default)s)")
    group.add_argument("--log-to", nargs="+", choices=("mlflow", "wandb"), default=[], help="besides TensorBoard's files")


def _add_drafter_flags(group: argparse._ArgumentGroup) -> None:
    loss = LossConfig()
    group.add_argument("--draft-vocab", type=int, metavar="N", default=DEFAULTS.draft_vocab_size, help="(default: %(default)s)")
    group.add_argument("--intermediate-size", type=int, metavar="N", default=0, help="of the MLP (default: the target's)")
    group.add_argument("--init", choices=("target", "random"), default=DEFAULTS.initialisation, help="how weights start")
    group.add_argument(
        "--continue-from", default="", metavar="FOLDER", help="start from this checkpoint's weights and vocabulary"
    )
    group.add_argument("--ttt-steps", type=int, metavar="K", default=loss.steps, help="of the training-time test (%(default)s)")
    group.add_argument("--decay", type=float, default=loss.decay, help="weight of step k is decay^k (default: %(default)s)")
    group.add_argument("--objective", choices=("cross_entropy", "kl", "lk", "lk_kl"), default=loss.objective, help="of a row")
    group.add_argument("--kl-weight", type=float, default=loss.kl_weight, help="w of lk_kl (default: %(default)s)")
    group.add_argument("--one-step-share", type=float, default=loss.one_step_share, help="of batches that train step 0 alone")


def _add_optimizer_flags(group: argparse._ArgumentGroup) -> None:
    adam = OptimizerConfig()
    group.add_argument("--lr", type=float, default=adam.learning_rate, help="learning rate (default: %(default)s)")
    group.add_argument("--betas", type=float, nargs=2, default=(adam.beta1, adam.beta2), help="of AdamW (default: .9 .95)")
    group.add_argument("--weight-decay", type=float, default=adam.weight_decay, help="(default: %(default)s)")
    group.add_argument("--clip", type=float, default=adam.clip, help="largest gradient norm (default: %(default)s)")
    group.add_argument("--warmup-share", type=float, default=adam.warmup_share, help="of all steps (default: %(default)s)")
    group.add_argument(
        "--batch-tokens", type=int, metavar="N", default=DEFAULTS.tokens_per_batch, help="of one process and pass"
    )
    group.add_argument("--accumulation", type=int, metavar="N", default=1, help="passes for each optimizer step (default: 1)")
    group.add_argument("--epochs", type=int, default=1, help="(default: 1)")
    group.add_argument("--max-steps", type=int, metavar="N", default=0, help="optimizer steps, whatever the epochs")
    group.add_argument("--max-minutes", type=float, metavar="M", default=0.0, help="ends earlier; the rate follows the clock")


def _add_measuring_flags(group: argparse._ArgumentGroup) -> None:
    evaluation, saving = EvalConfig(), CheckpointConfig()
    group.add_argument("--held-out", type=float, metavar="SHARE", default=evaluation.held_out_share, help="never trained on")
    group.add_argument("--eval-every", type=int, metavar="N", default=evaluation.every_steps, help="steps (%(default)s)")
    group.add_argument("--decode-every", type=int, metavar="N", default=0, help="steps; 0: at the end only (default)")
    group.add_argument("--decode-prompts", type=int, metavar="N", default=evaluation.decode_prompts, help="0: never decode")
    group.add_argument("--save-every", type=int, metavar="N", default=saving.every_steps, help="steps (%(default)s)")
    group.add_argument("--save-minutes", type=float, metavar="M", default=0.0, help="save after so many minutes too")
    group.add_argument("--keep-last", type=int, metavar="N", default=saving.keep_last, help="checkpoints, besides the best")


def make_attempt(args: argparse.Namespace) -> AttemptFolder:
    """Write the config that the flags describe into the next attempt's folder below --out. Raises ConfigError."""
    return new_attempt(args.out, config_of(args))


def config_of(args: argparse.Namespace) -> TrainConfig:
    """Raises ConfigError for flags that are missing or impossible."""
    missing = [f"--{name}" for name in ("hidden", "target") if not getattr(args, name)]
    if missing:
        raise ConfigError(f"a run without a RUN_FOLDER needs {', '.join(missing)}")
    config = TrainConfig(
        project=args.project or args.out.resolve().name,
        target=args.target,
        checkpoints=str(args.out / "checkpoints"),
        hidden=tuple(args.hidden),
        max_length=args.max_length,
        draft_vocab_size=args.draft_vocab,
        intermediate_size=args.intermediate_size,
        initialisation=args.init,
        objective=LossConfig(
            steps=args.ttt_steps,
            decay=args.decay,
            objective=args.objective,
            kl_weight=args.kl_weight,
            one_step_share=args.one_step_share,
        ),
        optimizer=OptimizerConfig(
            learning_rate=args.lr,
            beta1=args.betas[0],
            beta2=args.betas[1],
            weight_decay=args.weight_decay,
            clip=args.clip,
            warmup_share=args.warmup_share,
        ),
        evaluation=EvalConfig(
            held_out_share=args.held_out,
            every_steps=args.eval_every,
            decode_every_steps=args.decode_every,
            decode_prompts=args.decode_prompts,
        ),
        saving=CheckpointConfig(
            every_steps=args.save_every,
            every_minutes=args.save_minutes,
            keep_last=args.keep_last,
            continue_from=args.continue_from,
        ),
        tokens_per_batch=args.batch_tokens,
        accumulation=args.accumulation,
        epochs=args.epochs,
        max_steps=args.max_steps,
        max_minutes=args.max_minutes,
        precision=args.precision,
        device=args.device,
        devices=tuple(args.devices),
        parallel=args.parallel,
        seed=args.seed,
        log_to=tuple(args.log_to),
    )
    return from_mapping(TrainConfig, to_mapping(config), "flags")
