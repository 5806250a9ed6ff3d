"""What became of a request's drafts, in SGLang's terms."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class DraftCounts:
    verify_ct: int = 0
    """Forwards of the target since the prompt was read."""
    proposed: int = 0
    """Guesses that the target looked at."""
    histogram: list[int] = field(default_factory=list)
    """How many verifications found exactly 0, 1, 2, … right guesses."""

    @property
    def correct(self) -> int:
        return sum(count * times for count, times in enumerate(self.histogram))

    def add(self, *, proposed: int, correct: int) -> None:
        """One verification."""
        self.verify_ct += 1
        self.proposed += proposed
        self.histogram += [0] * (correct + 1 - len(self.histogram))
        self.histogram[correct] += 1

    def meta_info(self, completion_tokens: int) -> dict[str, Any]:
        """SGLang's keys; none before the first verification."""
        if self.verify_ct == 0:
            return {}
        return {
            "spec_accept_rate": self.correct / self.proposed if self.proposed else 0.0,
            "spec_accept_length": completion_tokens / self.verify_ct,
            "spec_verify_ct": self.verify_ct,
            "spec_num_correct_drafts": self.correct,
            "spec_num_proposed_drafts": self.proposed,
            "spec_correct_drafts_histogram": self.histogram[:],
        }
