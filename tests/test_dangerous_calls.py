"""What no line of this program may do, read from its source: pickles, shells, models' own code, evaluation of text."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
Call = tuple[str, ast.Call]
"""Where (file and line), and the call."""

FORBIDDEN = {
    "os.system": "a shell", "os.popen": "a shell", "subprocess.getoutput": "a shell", "subprocess.getstatusoutput": "a shell",
    "pickle.load": "a pickle", "pickle.loads": "a pickle", "pickle.Unpickler": "a pickle", "dill.load": "a pickle",
    "joblib.load": "a pickle", "marshal.loads": "code", "shelve.open": "pickles", "yaml.load": "objects of any kind",
    "eval": "code", "exec": "code", "numpy.load": "pickles", "np.load": "pickles", "pandas.read_pickle": "a pickle",
    "tarfile.open": "an archive's paths",
    "zipfile.ZipFile": "an archive's paths", "shutil.unpack_archive": "an archive's paths",
    "torch.hub.load": "code from elsewhere", "torch.jit.load": "code",
}  # fmt: skip


def name_of(call: ast.Call) -> str:
    return ast.unparse(call.func)


@cache
def calls() -> tuple[Call, ...]:
    return tuple(_calls())


def _calls() -> Iterator[Call]:
    files = [ROOT / "manage.py", *(ROOT / "pipeline").rglob("*.py"), *(ROOT / "eagle3web").rglob("*.py")]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def arguments(call: ast.Call) -> dict[str, str]:
    return {word.arg: ast.unparse(word.value) for word in call.keywords if word.arg}


@pytest.mark.slow
def test_the_source_is_read() -> None:
    assert len(calls()) > 5000


@pytest.mark.parametrize("name", FORBIDDEN)
def test_call_is_not_made(name: str) -> None:
    assert [place for place, call in calls() if name_of(call) == name] == []


def test_no_process_is_started_through_a_shell() -> None:
    shells = [place for place, call in calls() if arguments(call).get("shell", "False") != "False"]
    assert shells == []


def test_tensors_are_loaded_without_what_a_pickle_can_do() -> None:
    loads = {place: arguments(call).get("weights_only") for place, call in calls() if name_of(call) == "torch.load"}
    assert loads
    assert set(loads.values()) == {"True"}


def test_every_model_is_loaded_from_this_machine_and_says_whether_its_code_may_run() -> None:
    loads = [(place, arguments(call)) for place, call in calls() if name_of(call).endswith(".from_pretrained")]
    assert len(loads) >= 4
    for place, given in loads:
        assert (place, given.get("local_files_only")) == (place, "True")
        assert (place, given.get("trust_remote_code")) in {(place, "False"), (place, "trust_remote_code")}


def test_whether_a_models_code_may_run_is_never_said_to_be_so() -> None:
    """Only the project's field says so, or somebody at a shell: configs are given that value, and stages hand it on."""
    said = {value for _, call in calls() if (value := arguments(call).get("trust_remote_code")) is not None}
    assert {value.rpartition(".")[2] for value in said} == {"False", "trust_remote_code"}


def test_weights_are_safetensors_wherever_transformers_looks_for_them() -> None:
    loads = [arguments(call) for _, call in calls() if name_of(call) == "AutoModelForCausalLM.from_pretrained"]
    assert loads
    assert {given.get("use_safetensors") for given in loads} == {"True"}
