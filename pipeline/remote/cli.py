"""The words of `python -m pipeline remote`."""

import argparse
import sys
from collections.abc import Callable

from pipeline.errors import ConfigError
from pipeline.remote import budgets, lists, runs
from pipeline.remote.client import HERE, TOKEN, URL, Remote, RemoteError
from pipeline.remote.show import Printer
from pipeline.stage import MISUSED
from pipeline.stage_cli import refuse

Verb = Callable[[Remote, argparse.Namespace, Printer], int]
EXIT_CODES = """\
exit codes: 0 done; 1 refused, or no such thing; 2 misused; 3 the followed run was stopped; 4 not signed in or not allowed;
5 no answer. `follow` ends with the run's own: 0 finished, 3 stopped, else what its process ended with."""
ENDED_BY_KEYBOARD = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXIT_CODES
    _common(parser, None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, verb: Verb, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        _common(added, argparse.SUPPRESS)
        added.set_defaults(verb=verb)
        return added

    _add_runs(command)
    _add_budgets(command)
    _add_others(command)


Command = Callable[[str, Verb, str], argparse.ArgumentParser]


def _common(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Before or after the command: what stands after it wins."""
    parser.add_argument("--url", default=default, help=f"of the dashboard (default: {URL}, else {HERE})")
    parser.add_argument("--token", default=default, help=f"an API token (default: {TOKEN}); other users may see arguments")
    parser.add_argument("--json", action="store_true", default=default or False, help="print what the API says, as JSON")


def _add_runs(command: Command) -> None:
    listing = command("runs", runs.list_runs, "list runs, the newest first")
    for name in ("project", "stage", "status", "tag", "author"):
        listing.add_argument(f"--{name}", help="`live`, or such as failed" if name == "status" else None)
    listing.add_argument("-q", help="part of the title, a number, or a config hash")
    listing.add_argument("--limit", type=int, default=50, help="rows at most (default: %(default)s)")
    command("show", runs.show, "show one run with its attempts and datasets").add_argument("run", type=run_number)
    start = command("start", runs.start, "start a run of a stage, or a pipeline of all of them")
    start.add_argument("stage", choices=runs.STAGES)
    start.add_argument("--project", help="its slug")
    start.add_argument("--config", metavar="FILE", help="JSON body as the API's POST /runs takes it; - reads standard input")
    start.add_argument("--source", type=run_number, action="append", metavar="RUN", help="run that it takes from")
    start.add_argument("--title")
    start.add_argument("--tag", action="append")
    start.add_argument("--host", help="to run on; any worker without it")
    _add_follow(start)
    clone = command("clone", runs.clone, "start a run like another one")
    clone.add_argument("run", type=run_number)
    clone.add_argument("--concurrency", type=int)
    clone.add_argument("--order", choices=("sequential", "interleaved"))
    again = "ask prompts again that gave an error in an earlier run"
    clone.add_argument("--retry-errors", action="store_true", default=None, help=again)
    _add_follow(clone)
    for name, text in (
        ("stop", "ask a run to stop; it saves its work first"),
        ("pause", "send no new requests until the run is resumed"),
        ("resume", "go on with a paused, stopped, failed or lost run"),
        ("settle", "leave a run that failed, was lost or ended with errors as it is"),
    ):
        steering = command(name, runs.steer, text)
        steering.add_argument("run", type=run_number)
        _add_follow(steering)
    following = command("follow", runs.follow_run, "write a run's log as it comes, until the run ends (--json: its events)")
    following.add_argument("run", type=run_number)
    following.add_argument("--from-start", action="store_true", help="from the first line of the first attempt")


def _add_follow(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--follow", action="store_true", help="write its log, and end with its exit code")


def _add_budgets(command: Command) -> None:
    command("budgets", budgets.list_budgets, "list a project's token budgets").add_argument("project")
    change = command("set-budget", budgets.set_budget, "change a budget; a live run hears of it within a second")
    change.add_argument("project")
    change.add_argument("dataset")
    absent = argparse.SUPPRESS
    change.add_argument("--tokens", type=budgets.amount, default=absent, help="such as 10M, or all for every prompt")
    change.add_argument("--max-samples", type=budgets.amount, default=absent, help="prompts at most, or all")
    change.add_argument("--enable", dest="enabled", action="store_true", default=absent)
    change.add_argument("--disable", dest="enabled", action="store_false", default=absent)
    change.add_argument("--version", type=int, help="that you read: nothing is written if somebody changed it since")


def _add_others(command: Command) -> None:
    command("whoami", lists.whoami, "say whose token this is")
    command("projects", lists.list_projects, "list projects")
    command("datasets", lists.list_datasets, "list datasets").add_argument("-q", help="part of the name or the title")
    command("dataset", lists.show_dataset, "list a dataset's revisions").add_argument("slug")
    listing = command("checkpoints", lists.list_checkpoints, "list checkpoints, the newest first")
    listing.add_argument("--project")
    listing.add_argument("--run", type=run_number)
    listing.add_argument("--promoted", action="store_true", help="the ones that projects chose")
    promoting = command("promote", lists.promote, "make an approved checkpoint its project's drafter")
    promoting.add_argument("checkpoint", type=int)
    promoting.add_argument("--anyway", action="store_true", help="although nobody approved it; the audit trail says so")
    text = "print what serves the target with a checkpoint in SGLang"
    command("command", lists.launch_command, text).add_argument("checkpoint", type=int)
    command("engines", lists.list_engines, "list engines and their health")
    command("hosts", lists.list_hosts, "list hosts and what they have")


def run_number(text: str) -> int:
    """`142` or `r142`."""
    number = text.removeprefix("r")
    if not (number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no run; write 142 or r142")
    return int(number)


def run(args: argparse.Namespace) -> int:
    try:
        with Remote.configured(args.url, args.token) as remote:
            code: int = args.verb(remote, args, Printer(as_json=args.json))
            return code
    except ConfigError as error:
        return refuse(str(error), MISUSED)
    except RemoteError as error:
        return refuse(str(error), error.code)
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\nNo longer followed. The run goes on; `stop` asks it to stop.\n")
        return ENDED_BY_KEYBOARD
