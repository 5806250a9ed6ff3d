import json

import pytest

from pipeline.chat_template import GENERATION_END, GENERATION_START, ChatTemplate
from pipeline.errors import DataError

HI = [{"role": "user", "content": "hi"}]


def render(source: str, **variables: object) -> str:
    return ChatTemplate(source, variables).render(HI, add_generation_prompt=True)


def test_block_lines_leave_no_white_space() -> None:
    source = "{% for m in messages %}\n  {% if true %}\n[{{ m.content }}]\n  {% endif %}\n{% endfor %}\n"
    assert render(source) == "[hi]\n"


def test_arguments_of_the_template_reach_it() -> None:
    source = "{{ bos_token }}{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
    assert render(source, bos_token="<s>", enable_thinking=False) == "<s><think></think>"
    assert render(source, bos_token="<s>") == "<s>"


def test_json_is_printed_as_it_is() -> None:
    value = {"city": "Köln <b>&</b>", "n": 1}
    assert render("{{ value | tojson }}", value=value) == json.dumps(value, ensure_ascii=False)
    assert render("{{ value | tojson(indent=2) }}", value=value) == json.dumps(value, ensure_ascii=False, indent=2)


def test_loop_controls_work() -> None:
    body = "{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}"
    assert render("{% for i in range(9) %}" + body + "{% endfor %}") == "02"


def test_generated_parts_are_marked() -> None:
    source = "{% for m in messages %}a{% generation %}{{ m.content }}{% endgeneration %}b{% endfor %}"
    assert render(source) == f"a{GENERATION_START}hi{GENERATION_END}b"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        ("{{ messages[0]['content'] + 1 }}", "can only concatenate str"),
        ("{{ messages[7].content.x }}", "has no element 7"),
        ("{{ messages.__class__.__mro__ }}", "unsafe"),
        ("{{ messages.append(1) }}", "unsafe"),
        ("{{ 1 // 0 }}", "zero"),
    ],
)
def test_a_template_that_refuses_a_row_says_why(source: str, words: str) -> None:
    with pytest.raises(DataError, match=f"the chat template refuses the row: .*{words}"):
        render(source)


def test_source_that_is_no_template_is_an_error() -> None:
    with pytest.raises(DataError, match="the chat template is not valid"):
        ChatTemplate("{% for %}", {})
