"""The answer that all recipes of `ask` expect: an order for a product that is in stock."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

STOCK = {"A-7", "B-2"}


def in_stock(sku: str) -> str:
    """A check that JSON Schema cannot express. The message of its exception is part of the feedback for the model."""
    if sku not in STOCK:
        raise ValueError("must be in stock")
    return sku


class Order(BaseModel):
    """One order of a customer."""

    sku: Annotated[str, AfterValidator(in_stock)] = Field(description="Stock number")
    count: int = Field(ge=1, description="How many pieces")
