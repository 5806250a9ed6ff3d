"""One step for two requests: what each gets, and what the target's cache holds afterwards."""

from pathlib import Path

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.job import Job, new_job
from pipeline.serving.embedded.loading import LoadOptions, load
from pipeline.serving.embedded.offline import decode
from pipeline.serving.embedded.requests import SamplingParams
from pipeline.serving.embedded.stepping import verify

PROMPTS = ((5, 6, 7), (8, 9))


def test_each_request_gets_its_right_guesses_and_one_token_more(llama_folder: Path) -> None:
    options = LoadOptions(model=llama_folder, dtype="float32", device="cpu", threads=1, slots=2, context_length=64)
    runner = load(options).runner
    answers = [answer.tokens for answer in decode(runner, None, PROMPTS, max_new_tokens=6)]
    jobs: list[Job] = []
    for slot, (ids, answer) in enumerate(zip(PROMPTS, answers, strict=True)):
        runner.extend(slot, ids)
        jobs.append(new_job(str(slot), ids, SamplingParams(temperature=0), frozenset()))
        jobs[slot].take(answer[0], 0.0)
    runner.watch((1,))
    wrong = (answers[0][2] + 1) % runner.vocab_size
    results = verify(runner, jobs, [Draft((*answers[0][:2], wrong)), Draft(answers[1][:4])])
    assert [verdict.tokens for verdict, _ in results] == [list(answers[0][1:3]), list(answers[1][1:5])]
    assert [verdict.depths for verdict, _ in results] == [[1, 0], [1, 2, 3, 0]]
    assert [len(states.last) for _, states in results if states is not None] == [2, 4]
    again = verify(runner, jobs, [Draft(answers[0][2:3]), Draft(answers[1][4:5])])
    assert [verdict.tokens for verdict, _ in again] == [[answers[0][3]], [answers[1][5]]]
