# SPDX-License-Identifier: Apache-2.0
"""Names for annotations: jaxtyping's if it is installed, placeholders otherwise."""

from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Integer, Shaped, UInt

    # Type checkers have no type for a tree of arrays.
    PyTree: TypeAlias = Any
else:
    try:
        from jaxtyping import Bool, Float, Int, Integer, PyTree, Shaped, UInt
    except ImportError:

        class _Unchecked:
            """Stands for any array type: `Int[Array, " rows"]` is then `Any`."""

            def __class_getitem__(cls, item: Any) -> Any:
                return Any

        Bool = Float = Int = Integer = PyTree = Shaped = UInt = _Unchecked

Array: TypeAlias = jax.Array
ArrayLike: TypeAlias = jax.Array | np.ndarray
# One key column, or several, most significant first.
Keys: TypeAlias = ArrayLike | tuple[ArrayLike, ...]
# The number of valid rows of one side of a pair.
NumValid: TypeAlias = int | Integer[ArrayLike, ""] | None

__all__ = [
    "Array",
    "ArrayLike",
    "Bool",
    "Float",
    "Int",
    "Integer",
    "Keys",
    "NumValid",
    "PyTree",
    "Shaped",
    "UInt",
]
