"""Unknown query parameters are refused: a misspelt filter must not look like one that found everything."""

from collections.abc import Callable
from functools import wraps
from typing import Any, get_args, get_type_hints

from django.http import HttpRequest
from ninja.errors import ValidationError
from ninja.params.models import Param


def only_known_arguments(view: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate an operation's function: whatever stands in the address beyond its `Query[…]` parameters is a 422."""
    known = _query_parameters(view)

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> Any:  # noqa: ANN401  (whatever the operation answers)
        unknown = [name for name in request.GET if name not in known]
        if unknown:
            takes = f"known are {', '.join(known)}" if known else "this operation takes none"
            raise ValidationError(
                [{"loc": ("query", name), "msg": f"There is no such parameter; {takes}."} for name in unknown]
            )
        return view(request, **kwargs)

    return checked


def _query_parameters(view: Callable[..., Any]) -> list[str]:
    """Names of the fields of each parameter that is annotated `Query[Model]`."""
    names: list[str] = []
    for hint in get_type_hints(view, include_extras=True).values():
        model, *marks = get_args(hint) or (None,)
        if any(isinstance(mark, Param) and mark._param_source() == "query" for mark in marks):
            names += [field.alias or name for name, field in model.model_fields.items()]
    return names
