from pathlib import Path

import pytest

from pipeline.drafter_events import DecodeEvalLogged
from pipeline.events import Warned
from pipeline.training import decoding
from pipeline.training.config import EvalConfig
from tests.support.tiny_training import DATASETS, tiny_config, train

DECODES = EvalConfig(
    held_out_share=0.4, every_steps=1000, decode_every_steps=2, decode_prompts=5, decode_tokens=12, draft_steps=2
)


def test_held_out_prompts_are_decoded_and_their_accept_length_is_kept(root: Path) -> None:
    outcome, told = train(tiny_config(root, max_steps=4, evaluation=DECODES), root / "attempt")
    decoded = [event for event in told if isinstance(event, DecodeEvalLogged)]
    assert [event.step for event in decoded] == [2, 4]
    assert [event.prompts for event in decoded] == [5, 5]
    assert all(1 <= event.accept_length <= 3 for event in decoded)
    assert 5 <= decoded[0].tokens <= 60
    assert set(decoded[0].datasets) == set(DATASETS)
    assert outcome.summary["accept_length"] == decoded[-1].accept_length


def test_target_without_room_is_warned_of_once_and_training_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "ROOM", 1e12)
    outcome, told = train(tiny_config(root, max_steps=4, evaluation=DECODES), root / "attempt")
    warnings = [event.text for event in told if isinstance(event, Warned)]
    assert len(warnings) == 1
    assert warnings[0].startswith("held-out prompts are not decoded: the target needs ")
    assert outcome.summary["steps"] == 4
