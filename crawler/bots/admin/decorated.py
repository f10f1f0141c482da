"""The theme's decorators, with their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from unfold import decorators

Method = TypeVar("Method", bound=Callable[..., Any])


def button(**options: Any) -> Callable[[Method], Method]:
    """A button above a page or a list."""
    return cast("Callable[[Method], Method]", decorators.action(**options))


def column(**options: Any) -> Callable[[Method], Method]:
    """A value shown as a coloured label, or as a title with a line below it."""
    return cast("Callable[[Method], Method]", decorators.display(**options))
