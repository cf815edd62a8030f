# SPDX-License-Identifier: Apache-2.0
"""The types that arguments of many methods have.

An argument that takes anything, and is told apart inside, is an `object`: so a type checker sees
that each use of it asks first. `Any` is left to what no type of Python says.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

# Rows or columns: 0 or "index", 1 or "columns"; None where a method knows one for both.
Axis: TypeAlias = int | str | None
# One label, or several: a list, an array or an index of them.
LabelOrLabels: TypeAlias = Hashable | Iterable[object]
# Levels of an index, by number or name.
LevelOrLevels: TypeAlias = Hashable | Sequence[Hashable]
# Any stands for the dtypes of pandas, which has no types of its own.
DtypeLike: TypeAlias = str | type | np.dtype | Any | None
# Where rows lie: a mesh's sharding, or None for one device.
Sharding: TypeAlias = jax.sharding.Sharding | None
PathLike: TypeAlias = str | os.PathLike[str]
# Keywords that are handed on.
Options: TypeAlias = Mapping[str, Any]
# A function of the user, of pandas or of a table of methods.
Function: TypeAlias = Callable[..., Any]
