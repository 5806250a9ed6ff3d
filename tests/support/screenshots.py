"""`make screenshots`: pictures of every page, as `make demo` left them in EAGLE3_HOME, for the README and the guide.

Starts the system over that home, with the demo's engine where the home has one, and looks at each page: 1440 px light and dark,
390 px light. A home without a finished demo is refused.
"""

# ruff: noqa: E402  (Django reads the environment when it is set up, so that comes before the imports that need it)

import argparse
import io
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import django

ROOT = Path(__file__).resolve().parents[2]
os.environ |= {"DJANGO_SETTINGS_MODULE": "eagle3web.settings", "DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
sys.path.insert(0, str(ROOT))
django.setup()

from django.conf import settings
from django.urls import reverse
from PIL import Image
from playwright.sync_api import Browser, Page

from eagle3web.domain import demo
from eagle3web.domain.people import make_sign_in_link
from eagle3web.enums import RunStatus, Stage
from eagle3web.management.commands.start import WANTED, prepare
from eagle3web.models import Answer, Attempt, Checkpoint, Dataset, Engine, Host, Project, Run
from eagle3web.system.processes import Processes, free_port
from tests.support.chromium import chromium

LOOKS = ((1440, 900, "light"), (1440, 900, "dark"), (390, 844, "light"))
"""Width, height and theme."""
TALLEST = 1800
"""Pixels of a picture; the rest of a long page says no more."""
COLOURS = (256, 128, 64)
"""As many as keep a picture below LARGEST."""
LARGEST = 150_000
OF_PROJECT = (
    "budgets", "plan", "runs", "checkpoints", "benchmarks", "run-new", "run-new-pipeline", "run-new-extract",
    "run-new-train", "run-new-serve", "answers", "answers-review",
)  # fmt: skip
SHARED = ("datasets", "dataset-import", "engines", "me", "audit", "retention")


def pages() -> dict[str, str]:
    """Name → address, of the demo's chain and of what came of it. Raises SystemExit where the demo has not finished."""
    project = Project.objects.get(slug=demo.PROJECT)
    done = Run.objects.filter(project=project, status=RunStatus.FINISHED).order_by("pk")
    generated, trained, measured = (
        done.filter(stage=stage).first() for stage in (Stage.GENERATE, Stage.TRAIN, Stage.BENCHMARK)
    )
    if generated is None or trained is None or measured is None:
        raise SystemExit("no finished demo in EAGLE3_HOME: run `make demo ONCE=1` first")
    found = {"overview": reverse("project", args=[project.slug])}
    found |= {name: reverse(name, args=[project.slug]) for name in OF_PROJECT} | {name: reverse(name) for name in SHARED}
    found |= {"run-generate": _run(generated), "run-train": _run(trained), "run-benchmark": _run(measured)}
    found["benchmark"] = reverse("benchmark", args=[Attempt.objects.filter(run=measured).latest("pk").pk])
    if len(same := list(done.filter(stage=Stage.GENERATE).values_list("pk", flat=True)[:2])) == 2:
        found["compare"] = reverse("compare", args=[project.slug], query={"runs": ",".join(map(str, same))})
    return found | _of_rows(project, trained)


def _of_rows(project: Project, trained: Run) -> dict[str, str]:
    """Pages of one row each, where there is one."""
    found = {}
    if (dataset := Dataset.objects.order_by("slug").first()) is not None:
        found["dataset"] = reverse("dataset", args=[dataset.slug])
    if (row := Checkpoint.objects.filter(run=trained, removed_at=None).order_by("-best", "-pk").first()) is not None:
        found["checkpoint"] = reverse("checkpoint", args=[row.pk])
    if (answer := Answer.objects.filter(project=project, error="").order_by("-tokens", "pk").first()) is not None:
        found["answer"] = reverse("answer", args=[project.slug, answer.pk])
    if (host := Host.objects.filter(name=settings.EAGLE3_HOST).first()) is not None:
        found["host"] = reverse("host", args=[host.name])
    return found


def _run(run: Run) -> str:
    return reverse("run", args=[run.pk])


def take(browser: Browser, url: str, folder: Path) -> None:
    for width, height, theme in LOOKS:
        context = browser.new_context(
            base_url=url, viewport={"width": width, "height": height}, color_scheme="dark" if theme == "dark" else "light"
        )
        page = context.new_page()
        page.goto(make_sign_in_link(demo.demo_user()))
        page.wait_for_url("**/projects/**")
        for name, path in pages().items():
            page.goto(path)
            settle(page)
            save(page, folder / f"{name}-{width}-{theme}.png", width=width)
        if width > 1000:
            page.keyboard.press("Control+k")
            page.get_by_role("option").first.wait_for()
            save(page, folder / f"palette-{width}-{theme}.png", width=width, height=height)
        context.close()


def settle(page: Page) -> None:
    """Until the page is live and its charts are drawn."""
    page.wait_for_load_state("networkidle")
    page.wait_for_function("() => !document.body.dataset.live || document.getElementById('live')?.textContent.includes('Live')")
    page.wait_for_function("() => [...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('.main-svg'))")


def save(page: Page, path: Path, *, width: int, height: int | None = None) -> None:
    """A picture with few colours, which makes it small."""
    tall = height or min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
    shot = page.screenshot(full_page=height is None, clip={"x": 0, "y": 0, "width": width, "height": tall})
    whole = Image.open(io.BytesIO(shot)).convert("RGB")
    for colours in COLOURS:
        # Maximum coverage keeps the few pixels of a rare colour, such as a state's, as they are.
        few = whole.quantize(colours, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    sys.stdout.write(f"{path}  {path.stat().st_size // 1000} kB\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    prepare()
    env, wanted = {}, [*WANTED]
    engine = Engine.objects.filter(enabled=True, url__startswith="http://127.0.0.1:").first()
    models = sorted((settings.EAGLE3_HOME / "models").glob("*/config.json"))
    if engine is not None and models:
        wanted.append("engine")
        env = {"EAGLE3_ENGINE_MODEL": str(models[0].parent), "EAGLE3_ENGINE_PORT": str(urlsplit(engine.url).port)}
    with Processes(wanted, port=free_port(), log=settings.EAGLE3_HOME / "system.log", env=env) as system:
        system.wait(needs=lambda health: health.get("status") == "ok", what="the system", timeout_s=180)
        with chromium() as browser:
            take(browser, system.url, args.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
