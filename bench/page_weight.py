"""What does each page weigh, and how soon is something on the screen?

    python bench/page_weight.py [--times 3] [--points 100000]

Real parts: Valkey, one uvicorn, Chromium on this machine, an empty cache for every look. Bytes are as they go over the wire,
compressed; Plotly is counted apart, since only pages with charts load it. The first contentful paint is the browser's own word.

Exit code 1 when a page is heavier than 250 kB without Plotly, its median first paint comes after a second, the palette is not
drawn within 100 ms of its keys, or the loss of a long training within 500 ms of its page's data.
"""

# ruff: noqa: E402  (Django reads the environment when it is set up, so that comes before the imports that need it)

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import django

HOME = tempfile.mkdtemp(prefix="eagle3-bench-")
os.environ |= {"EAGLE3_HOME": HOME, "DJANGO_SETTINGS_MODULE": "eagle3web.settings", "DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
django.setup()

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from playwright.sync_api import Browser, Page, Response

from eagle3web.domain.people import make_sign_in_link
from eagle3web.models import MetricPoint, User
from eagle3web.system.processes import Processes, free_port
from tests.support import factories
from tests.support.chromium import chromium
from tests.support.every_page import make_pages

WEIGHT_GOAL = 250_000
PAINT_GOAL_MS = 1000.0
PALETTE_GOAL_MS = 100.0
CHART_GOAL_MS = 500.0
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"

PALETTE = """() => new Promise((done) => {
  const start = performance.now();
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
})"""

# What charts.js does with a page's data for the first time: read it, and have Plotly draw it.
CHART = """async () => {
  const chart = document.getElementById("c-loss");
  const { data, layout } = chart.querySelector(".plot");
  const fresh = chart.appendChild(document.createElement("div"));
  const start = performance.now();
  JSON.parse(chart.querySelector("script").textContent);
  await Plotly.newPlot(fresh, data, layout);
  const took = performance.now() - start;
  fresh.remove();
  return took;
}"""


@dataclass
class Weighed:
    """One page."""

    bytes: int = 0
    plotly: int = 0
    requests: int = 0
    paints_ms: list[float] = field(default_factory=list)

    @property
    def paint_ms(self) -> float:
        return statistics.median(self.paints_ms)

    @property
    def is_good(self) -> bool:
        return self.bytes <= WEIGHT_GOAL and self.paint_ms <= PAINT_GOAL_MS


def follow(page: Page, answers: list[Response]) -> None:
    """Keep what the browser is sent."""

    def keep(answer: Response) -> None:
        answers.append(answer)

    page.on("response", keep)


def weigh(browser: Browser, url: str, path: str, cookies: list[dict[str, str]], times: int) -> Weighed:
    """Look at a page with an empty cache, a few times."""
    found = Weighed()
    for _ in range(times):
        context = browser.new_context(base_url=url, viewport={"width": 1440, "height": 900})
        context.add_cookies(cookies)  # type: ignore[arg-type]
        page = context.new_page()
        answers: list[Response] = []
        follow(page, answers)
        page.goto(path)
        page.wait_for_load_state("networkidle")
        sizes = {answer.url: answer.request.sizes()["responseBodySize"] for answer in answers}
        found.plotly = sum(size for url, size in sizes.items() if "plotly" in url)
        found.bytes = sum(sizes.values()) - found.plotly
        found.requests = len(sizes)
        found.paints_ms.append(page.evaluate(PAINT))
        context.close()
    return found


def long_training(points: int) -> str:
    """The address of a training with so many steps."""
    attempt = factories.attempt(factories.run(stage="train"), status="finished")
    start = timezone.now() - timedelta(seconds=points)
    rows = (
        MetricPoint(
            attempt=attempt,
            name="loss",
            step=step,
            t=start + timedelta(seconds=step),
            value=9 / (1 + step / 999) + step % 7 / 9,
        )
        for step in range(points)
    )
    MetricPoint.objects.bulk_create(rows, batch_size=5000)
    return f"/runs/{attempt.run_id}/"


def draw(page: Page, path: str, times: int) -> float:
    """Median milliseconds until the loss of a training is drawn."""
    page.goto(path)
    page.locator("#c-loss .main-svg").first.wait_for()
    took: list[float] = [page.evaluate(CHART) for _ in range(times)]
    return statistics.median(took)


def measure(url: str, pages: dict[str, str], link: str, *, long: str, times: int) -> bool:
    with chromium() as browser:
        context = browser.new_context(base_url=url)
        page = context.new_page()
        page.goto(link)
        page.wait_for_url("**/projects/**")
        palette_ms: float = page.evaluate(PALETTE)
        chart_ms = draw(page, long, times)
        cookies = [{name: str(cookie[name]) for name in ("name", "value", "domain", "path")} for cookie in context.cookies()]
        context.close()
        print(f"{'page':<24}{'kB':>8}{'Plotly kB':>12}{'requests':>10}{'first paint ms':>16}")
        rows = {}
        for name, path in pages.items():
            row = rows[name] = weigh(browser, url, path, cookies, times)
            print(
                f"{name:<24}{row.bytes / 1000:>8.0f}{row.plotly / 1000:>12.0f}{row.requests:>10}{row.paint_ms:>16.0f}",
                flush=True,
            )
    heaviest, slowest = max(row.bytes for row in rows.values()), max(row.paint_ms for row in rows.values())
    print(f"heaviest {heaviest / WEIGHT_GOAL:.2f} of its goal, slowest paint {slowest / PAINT_GOAL_MS:.2f} of its goal")
    print(f"palette drawn after {palette_ms:.0f} ms, {palette_ms / PALETTE_GOAL_MS:.2f} of its goal")
    print(f"long chart drawn in {chart_ms:.0f} ms, {chart_ms / CHART_GOAL_MS:.2f} of its goal")
    return palette_ms <= PALETTE_GOAL_MS and chart_ms <= CHART_GOAL_MS and all(row.is_good for row in rows.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--points", type=int, default=100_000, help="of the long chart (default 100000)")
    args = parser.parse_args()
    try:
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        Path(settings.EAGLE3_IMPORT_ROOT).mkdir(parents=True, exist_ok=True)
        user = User.objects.create_superuser("bench")
        pages = make_pages(user, Path(HOME))
        with Processes(["valkey", "web"], port=free_port(), log=Path(HOME) / "system.log") as system:
            system.wait(needs=lambda health: health.get("status") in ("ok", "degraded"), what="the site", timeout_s=60)
            good = measure(system.url, pages, make_sign_in_link(user), long=long_training(args.points), times=args.times)
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
