from pipeline.draft_shape import DraftShape
from pipeline.sglang_command import launch_command


def test_launch_command_is_what_sglang_takes() -> None:
    command = launch_command(target="a b", drafter="d", shape=DraftShape())
    assert command.replace(" \\\n    ", " ") == (
        "python -m sglang.launch_server --model-path 'a b' --speculative-algorithm EAGLE3 --speculative-draft-model-path d "
        "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
    )
