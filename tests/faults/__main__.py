"""The failure suite: a whole system under faults that a seed draws, watched by a checker that believes nothing.

    make test-faults SEED=7 MINUTES=20          python -m tests.faults --seed 7 --minutes 20 [--postgres] [--only "kill web"]

Exit code 1 with the seed, the faults that were drawn, what contradicts what, and the command that repeats it. As root, the
folders that fill up are disks of their own (tmpfs); with a C compiler, clocks jump.
"""

# ruff: noqa: E402  (Django reads the environment when it is set up, so that comes before the imports that need it)

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import django

ROOT = Path(tempfile.mkdtemp(prefix="eagle3-faults-"))
HOME = ROOT / "home"
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "eagle3web.settings",
    "EAGLE3_HOME": str(HOME),
    "EAGLE3_HOST": "test-host",
    "EAGLE3_SECRET_KEY": "only for tests",
}
django.setup()

from django.core.management import call_command

from tests.faults.driver import ContradictionError, Driver
from tests.faults.world import FaultWorld, SiteError
from tests.support.postgres import postgres
from tests.support.system import System

DISKS = ("projects", "runs")
DISK_MB = 64, 16
"""At first, and more for each minute: what runs leave behind must not fill a disk, only faults shall."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--postgres", action="store_true", help="over PostgreSQL instead of SQLite")
    parser.add_argument("--only", default="", help="only the faults whose name begins so")
    args = parser.parse_args()
    try:
        return on_postgres() if args.postgres else drive(args)
    finally:
        shutil.rmtree(ROOT, ignore_errors=True)


def on_postgres() -> int:
    """The same in a process that finds a server of its own in its environment."""
    with postgres() as server:
        there = {"DATABASE_URL": server.url, "EAGLE3_TEST_POSTGRES": f"{server.port} {server.folder}"}
        again = [argument for argument in sys.argv[1:] if argument != "--postgres"]
        return subprocess.run([sys.executable, "-m", "tests.faults", *again], env=os.environ | there, check=False).returncode


def drive(args: argparse.Namespace) -> int:
    with ExitStack() as stack:
        size_mb = round(DISK_MB[0] + DISK_MB[1] * args.minutes)
        disks = {name: HOME / name for name in DISKS if mounted(HOME / name, size_mb, stack)}
        call_command("migrate", verbosity=0)
        system = System(HOME, socket=HOME / "valkey.sock", static=ROOT / "static")
        stack.callback(system.close)
        world = FaultWorld(system, ROOT, disks=disks)
        stack.callback(world.close)
        driver = Driver(world, args.seed)
        try:
            driver.run(minutes=args.minutes, only=args.only)
        except (ContradictionError, SiteError, AssertionError, OSError) as error:
            kept = shutil.copytree(HOME, tempfile.mkdtemp(prefix="eagle3-faults-kept-"), dirs_exist_ok=True, ignore=sockets)
            print(f"\nseed {args.seed}, {error!r:.60}:\n{error}\n\nthe faults:\n" + "\n".join(driver.trace))
            print(f"\nits home is kept in {kept}; to repeat it:\n  {repeats(args)}")
            return 1
    print(f"seed {args.seed}: {len(driver.trace) - 1} faults, no contradiction")
    return 0


def mounted(folder: Path, size_mb: int, stack: ExitStack) -> bool:
    """Make it a small disk of its own, where we may; it is unmounted with the stack."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return False
    stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
    return True


def sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_socket() or name == "static"]


def repeats(args: argparse.Namespace) -> str:
    where = " DATABASE=postgres" if os.environ.get("EAGLE3_TEST_POSTGRES") else ""
    only = f' ONLY="{args.only}"' if args.only else ""
    return f"make test-faults SEED={args.seed} MINUTES={args.minutes:g}{where}{only}"


if __name__ == "__main__":
    sys.exit(main())
