"""What the retention rules throw away: shown first, removed with --yes."""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from eagle3web.domain import prunable, pruning
from eagle3web.domain.retention import rules_of
from eagle3web.enums import Prunable
from eagle3web.formats import count, size
from eagle3web.models import Project, Pruned
from eagle3web.tasks import remove_everywhere


class Command(BaseCommand):
    help = (
        "Show what the retention rules that are switched on would remove; with --yes remove it. "
        "Files of other hosts are removed by the workers there."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", default="", help="slug; all projects without it")
        parser.add_argument(
            "--kind", choices=Prunable.values, action="append", help="only this kind; may be given several times"
        )
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--dry-run", action="store_true", help="only show (the default)")
        choice.add_argument("--yes", action="store_true", help="remove what is shown")

    def handle(self, *_args: Any, project: str, kind: list[str] | None, yes: bool, **_options: Any) -> None:
        projects = Project.objects.filter(slug=project) if project else Project.objects.order_by("pk")
        if project and not projects:
            raise CommandError(f"There is no project {project}.")
        kinds = [Prunable(word) for word in kind] if kind else list(Prunable)
        for row in projects:
            self._show(row, kinds, pruning.prune(row, user=None, kinds=kinds) if yes else _found(row, kinds))
        if not yes:
            self.stdout.write("Nothing was removed; --yes removes what is shown.")
            return
        while not pruning.remove():
            pass
        remove_everywhere()
        for host in pruning.waiting_hosts():
            self.stdout.write(f"What lies on {host or 'this host'} is removed by its worker.")

    def _show(self, project: Project, kinds: list[Prunable], things: Iterable[prunable.Found | Pruned]) -> None:
        found = list(things)
        rules = [rule for rule in rules_of(project) if rule.kind in kinds]
        if not rules:
            self.stdout.write(f"{project.slug}: no rule is switched on")
        for rule in rules:
            own = [thing for thing in found if thing.kind == rule.kind]
            runs = sorted({thing.run_id for thing in own})
            self.stdout.write(f"{project.slug}: {rule.words}")
            self.stdout.write(f"  {_amount(own)} of {count(len(runs))} {'run' if len(runs) == 1 else 'runs'}")
            for run in runs:
                self.stdout.write(f"    r{run}: {_amount(thing for thing in own if thing.run_id == run)}")


def _found(project: Project, kinds: list[Prunable]) -> list[prunable.Found]:
    return prunable.with_sizes(prunable.find(project, kinds=kinds))


def _amount(things: Iterable[prunable.Found | Pruned]) -> str:
    sizes = [thing.bytes for thing in things]
    return f"{count(len(sizes))} {'thing' if len(sizes) == 1 else 'things'}, {size(sum(sizes))}"
