from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from pipeline.benchmark.contenders import Contender
from pipeline.benchmark.drafted import drafted, pieces
from pipeline.benchmark.prompts import Prompt
from pipeline.draft_shape import DraftShape


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator([], trainers.BpeTrainer(initial_alphabet=alphabet, show_progress=False))
    return tokenizer


def test_pieces_hold_a_character_back_until_it_is_whole() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("aé€z").ids
    assert len(ids) == 1 + 2 + 3 + 1
    assert pieces(ids, tokenizer.decode) == ("a", "", "é", "", "", "€", "z")


def test_half_a_character_at_the_end_is_shown_as_such() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("a€").ids[:-1]
    found = pieces(ids, tokenizer.decode)
    assert (len(found), found[0], found[1], "".join(found)) == (3, "a", "", tokenizer.decode(ids))


def test_control_characters_survive_as_text() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("\x1b[31m<b>").ids
    assert "".join(pieces(ids, tokenizer.decode)) == "\x1b[31m<b>"


def test_event_is_cut_to_what_a_page_shows() -> None:
    prompt = Prompt(dataset="B1", key="k", id="", text="x" * 5000, ids=(1,))
    shape = DraftShape(steps=2, topk=1, draft_tokens=3)
    event = drafted(
        prompt,
        Contender(mode="drafter", shape=shape),
        output_ids=range(500),
        depths=[0, 1, 2] * 200,
        decode=lambda ids: "".join(f"[{token}]" for token in ids),
    )
    assert (len(event.pieces), len(event.depths), len(event.prompt)) == (400, 400, 4000)
    assert (event.prompt_id, event.shape, event.pieces[399], event.depths[:4]) == ("k", "2/1/3", "[399]", (0, 1, 2, 0))
