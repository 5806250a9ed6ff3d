"""Models for tests: SmolLM2 as the demo has it, and a tokenizer that is made in a moment."""

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

from django.conf import settings
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from pipeline.target_model import prepare_smollm2, smollm2_folder

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@cache
def smollm2() -> Path:
    """The converted model: the working copy's own where `make demo` has made it, else one for this session."""
    kept = smollm2_folder(settings.BASE_DIR / "var")
    if (kept / "manifest.json").exists():
        return kept
    home = Path(tempfile.mkdtemp(prefix="eagle3-model-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return prepare_smollm2(home)


def tiny_tokenizer(folder: Path, *, template: str = CHATML, thinking: bool = False, **config: object) -> Path:
    """A byte-level tokenizer of about 400 tokens, with ChatML's control tokens, in `folder`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the user and the assistant think about the system of the end"] * 4, trainer)
    if thinking:
        tokenizer.add_tokens([AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=False)])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "bos_token": "<|im_start|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(named | config))
    if template:
        (folder / "chat_template.jinja").write_text(template)
    return folder
