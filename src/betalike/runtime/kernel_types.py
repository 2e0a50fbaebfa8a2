"""Types of a kernel's arguments, read from its annotations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numba.core import types
from numba.np import numpy_support

TYPES: Any = types  # these parts of Numba have no types
FROM_DTYPE: Any = numpy_support.from_dtype
SCALARS: dict[Any, Any] = {int: TYPES.int64, float: TYPES.float64, bool: TYPES.boolean}


@functools.cache
def argument_types(function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """Return the types that a function is compiled for; None if an annotation is missing or leaves a type open.

    Arrays are contiguous. They have one dimension unless the annotation gives the shape.
    """
    try:
        hints = get_type_hints(function)
        return tuple(_type_of(hints[name]) for name in inspect.signature(function).parameters)
    except (LookupError, NameError, TypeError):
        return None


def _type_of(hint: Any) -> Any:
    if hint in SCALARS:
        return SCALARS[hint]
    if get_origin(hint) is np.ndarray:
        shape, dtype = get_args(hint)
        n_dimensions = 1 if Ellipsis in get_args(shape) else len(get_args(shape))
        return TYPES.Array(FROM_DTYPE(np.dtype(get_args(dtype)[0])), n_dimensions, "C")
    if get_origin(hint) is tuple:
        return TYPES.BaseTuple.from_types([_type_of(part) for part in get_args(hint)])
    if hasattr(hint, "_fields"):
        fields = get_type_hints(hint)
        return TYPES.BaseTuple.from_types([_type_of(fields[name]) for name in hint._fields], hint)
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return FROM_DTYPE(np.dtype(hint))
    raise TypeError(f"{hint!r} is not the type of one kind of argument.")
