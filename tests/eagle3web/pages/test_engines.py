"""The page of all engines and hosts."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.pages.engines import EnginesPage
from eagle3web.queries.machines import SPANS
from tests.support import factories

pytestmark = pytest.mark.django_db
LOOKER = frozenset({"view_run"})


def test_charts_show_what_was_told() -> None:
    page = EnginesPage(LOOKER)
    assert page.details(SPANS["1h"])["figures"] == []
    engine = factories.engine(name="kimi-a")
    factories.engine_sample(engine, tokens_per_s=410.0)
    figures = {key: figure for key, _, figure in page.details(SPANS["1h"])["figures"]}
    assert list(figures) == ["c-rate", "c-queue"]
    factories.engine_sample(engine, accept_length=2.4, at=timezone.now() - timedelta(seconds=10))
    assert [key for key, _, _ in page.details(SPANS["1h"])["figures"]] == ["c-rate", "c-queue", "c-accept"]
    assert (figures["c-rate"]["data"][0]["name"], figures["c-rate"]["data"][0]["y"]) == ("kimi-a", [410.0])


def test_new_samples_arrive_as_points_of_the_engines_that_are_shown() -> None:
    engine = factories.engine()
    off = factories.engine(enabled=False)
    page = EnginesPage(LOOKER)
    page.read(timezone.now())
    factories.engine_sample(engine, tokens_per_s=5.0, waiting=2)
    factories.engine_sample(off)
    entries = page.read(timezone.now()).streams["points"].entries
    assert [(line, value) for _, (line, _, value) in entries] == [
        (f"rate/{engine.pk}", 5.0), (f"queue/{engine.pk}", 2), (f"accept/{engine.pk}", None),
    ]  # fmt: skip
    assert page.missed("points", entries[0][0], entries[-1][0])[0] == entries[1:]


def test_title_counts_engines_in_trouble() -> None:
    factories.engine(state="down")
    factories.engine(state="down", enabled=False)
    assert EnginesPage(LOOKER).read(timezone.now()).title == "(1) Engines and hosts"
