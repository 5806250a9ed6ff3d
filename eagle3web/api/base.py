"""What all operations share: identifiers, text that a database can keep, paging."""

from typing import Annotated, Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from ninja import Field, Path, Schema
from pydantic import AfterValidator, BaseModel, ConfigDict

from eagle3web.models.tags import TAG

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("NUL characters cannot be stored")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("half a surrogate pair is no text") from error
    return text


HostTag = Annotated[str, Field(pattern=f"^{TAG.pattern}$")]
"""Of a host, such as `h200`."""


def _says_something(text: str) -> str:
    if not text.strip():
        raise ValueError("Write something")
    return text


Text = Annotated[str, AfterValidator(_storable)]
SomeText = Annotated[str, AfterValidator(_storable), AfterValidator(_says_something)]
"""Not white space alone, as Python sees it."""
Slug = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_storable)]
Id = Annotated[int, Path(ge=1, le=2**63 - 1)]


class Body(BaseModel):
    """Base of request bodies: JSON types as they are, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    def changes(self) -> dict[str, Any]:
        """The fields that the caller sent."""
        return self.model_dump(exclude_unset=True)


class Out(Schema):
    """Base of answers; the docstrings under fields are their descriptions in openapi.json."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Paging(Schema):
    limit: int = Field(50, ge=1, le=500)
    offset: int = Field(0, ge=0, le=10**9)


class Page(Schema, Generic[Item]):
    """No `Out`: to look for the docstrings of a generic class takes pydantic half a second for each kind of item."""

    items: list[Item]
    count: Annotated[int, Field(description="Rows on all pages.")]


def page(rows: QuerySet[Row], paging: Paging) -> dict[str, Any]:
    """The rows of one page and the number of all, as `Page` wants them."""
    return {"items": rows[paging.offset : paging.offset + paging.limit], "count": rows.count()}
