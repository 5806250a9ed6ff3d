import json
import struct
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from pipeline.errors import DataError
from pipeline.tensor_files import INDEX, describe_not_finite, list_tensors, load_tensor, read_header


def test_tensors_of_one_file_are_listed_without_an_index(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(2, 3), "b": torch.arange(4)}, tmp_path / "model.safetensors")
    entries = list_tensors(tmp_path)
    assert {name: (entry.dtype, entry.shape) for name, entry in entries.items()} == {"a": ("F32", (2, 3)), "b": ("I64", (4,))}
    assert load_tensor(entries["b"]).tolist() == [0, 1, 2, 3]


def test_index_names_the_files(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(2)}, tmp_path / "model-1.safetensors")
    save_file({"b": torch.zeros(2)}, tmp_path / "model-2.safetensors")
    save_file({"stray": torch.zeros(2)}, tmp_path / "other.safetensors")
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}))
    assert set(list_tensors(tmp_path)) == {"a", "b"}
    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(DataError, match=r"not there: model-2\.safetensors"):
        list_tensors(tmp_path)


def test_truncated_file_is_named_with_both_sizes(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    save_file({"a": torch.zeros(100)}, file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    with pytest.raises(DataError, match=rf"model\.safetensors: truncated: {len(whole) - 10:,} bytes .* {len(whole):,}"):
        list_tensors(tmp_path)


@pytest.mark.parametrize("content", [b"", b"abc", struct.pack("<Q", 9) + b"{}", struct.pack("<Q", 4) + b"nope"])
def test_file_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"model\.safetensors"):
        read_header(file)


def test_pickles_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"cos\nsystem\n")
    with pytest.raises(DataError, match=r"pytorch_model\.bin: pickles are not read"):
        list_tensors(tmp_path)


def test_not_finite_values_are_counted() -> None:
    assert describe_not_finite(torch.tensor([1.0, float("nan"), float("inf")])) == "2 of 3 values are NaN or infinite"
    assert describe_not_finite(torch.tensor([1.0, 2.0])) == ""
