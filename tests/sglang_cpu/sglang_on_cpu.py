"""What SGLang's wheel imports and a machine without a GPU does not have: Triton, and torchvision's compiled operators.

Importing this module installs both stand-ins, Triton's only where the real one is missing. README.md says what stays SGLang's.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

VISION_OPERATORS = ("nms", "qnms")
VISION_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
"""Of both operators."""


class _AnyBase:
    """In place of a class of Triton's: others may derive from it and pass keywords on."""

    def __init_subclass__(cls, **_keywords: object) -> None:
        super().__init_subclass__()

    def __init__(self, *_values: object, **_keywords: object) -> None:
        """Such as the limits of an autotuner's Config, or a constant: nobody reads them."""


class TritonStandIn(ModuleType):
    """A module in which every name exists: a capital letter begins a class, anything else is a module and a decorator."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__file__ = __file__
        self.__path__: list[str] = []
        self.__spec__ = ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (a class or a module)
        if name.startswith("__"):
            raise AttributeError(name)
        found: Any = type(name, (_AnyBase,), {}) if name[0].isupper() else TritonStandIn(f"{self.__name__}.{name}")
        setattr(self, name, found)
        return found

    def __call__(self, *values: Any, **keywords: Any) -> Any:  # noqa: ANN401
        """As a decorator, with or without brackets: the function stays what it is."""
        bare = len(values) == 1 and callable(values[0]) and not keywords
        return values[0] if bare else _unchanged

    def __contains__(self, _item: object) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


class TritonFinder(Loader):
    """Answers `import triton` and everything below it."""

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] == "triton" else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return TritonStandIn(spec.name)

    def exec_module(self, module: Any) -> None:  # noqa: ANN401
        if module.__name__ == "triton":
            module.__version__ = "3.0.0"
            # Plain arithmetic that is called outside kernels.
            module.cdiv = lambda value, by: -(-value // by)
            module.next_power_of_2 = lambda value: 1 << max(value - 1, 0).bit_length()
        if module.__name__ == "triton.language":
            # Annotates arguments of kernels, in small letters although it is a class.
            module.constexpr = type("constexpr", (_AnyBase,), {})


class VisionFinder:
    """Finds nothing; it only declares the operators in the moment before torchvision is imported, for torch is slow to load."""

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> None:
        if name == "torchvision":
            sys.meta_path.remove(self)
            _declare_vision_operators()


_libraries: list[Any] = []
"""An operator lives as long as the library that declared it."""


def _declare_vision_operators() -> None:
    import torch  # noqa: PLC0415  (most processes of SGLang's environment never need it)

    make_library: Any = torch.library.Library
    library = make_library("torchvision", "FRAGMENT")
    for name in VISION_OPERATORS:
        library.define(name + VISION_SCHEMA)
    _libraries.append(library)


def install() -> None:
    if PathFinder.find_spec("triton") is None:
        sys.meta_path.append(TritonFinder())
    sys.meta_path.insert(0, VisionFinder())


install()
