"""Budgets at a shell, against a real server."""

import argparse
import json

import pytest

from pipeline.remote.budgets import amount
from tests.pipeline.remote.conftest import Remote
from tests.support import factories


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("10000000", 10_000_000), ("10M", 10_000_000), ("2.5 m", 2_500_000), ("1_000", 1000), ("0", 0), ("all", None)],
)
def test_amounts_read_as_people_write_them(text: str, tokens: int | None) -> None:
    assert amount(text) == tokens


@pytest.mark.parametrize("text", ["", "2o48", "-1", "1.5", "M", "1e6", "nan", "10 T"])
def test_odd_amounts_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        amount(text)


def test_budget_is_changed_against_the_version_that_was_read(remote: Remote) -> None:
    budget = factories.budget(factories.project(slug="kimi"), factories.dataset(slug="B3_math"))
    code, out, _ = remote("set-budget", "kimi", "B3_math", "--tokens", "12M", "--disable")
    assert code == 0
    assert out.startswith("B3_math: tokens 10,000,000 → 12,000,000, enabled yes → no; version 2.")
    code, _, err = remote("set-budget", "kimi", "B3_math", "--tokens", "all", "--version", 1)
    assert code == 1
    assert "ada" in err
    budget.refresh_from_db()
    assert (budget.tokens, budget.version) == (12_000_000, 2)
    assert json.loads(remote("budgets", "kimi", "--json")[1])[0]["tokens"] == 12_000_000
    assert remote("set-budget", "kimi", "B3_math")[0] == 2


def test_budgets_are_listed(remote: Remote) -> None:
    factories.budget(factories.project(slug="kimi"), factories.dataset(slug="B3_math"), tokens=None)
    code, out, _ = remote("budgets", "kimi")
    assert code == 0
    assert "B3_math" in out
    assert "all prompts" in out
