# SPDX-License-Identifier: Apache-2.0
"""pandas' warning of a chained assignment, as `frame[mask]["x"] = 0`, which sets nothing."""

import dis
import sys
import warnings

import pandas as pd

# The references to an object that nothing names, while `object[key] = value` runs: the stack of
# the interpreter, the argument `self` and that of `getrefcount`.
OF_OBJECT = 2 if sys.version_info >= (3, 14) else 3
# While `object.loc[key] = value` runs: the indexer, and the argument of `getrefcount`.
OF_INDEXER = 2
_SETS_ITEM = {dis.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in dis.opmap}


def warn_of_chained(references: int, owner: object, most: int) -> None:
    """Warns if a `__setitem__` sets rows or columns of an object that nothing else can read.

    Args:
        references: `sys.getrefcount(owner)`, as `__setitem__` counts them: the first argument, for
            the others are references too.
        owner: the frame or series.
        most: the references if nothing names the object.
    """
    if references > most:
        return
    caller = sys._getframe(2)
    is_named = any(value is owner for value in caller.f_locals.values())
    # Compiled code sets items without a reference on the stack.
    if not is_named and caller.f_code.co_code[caller.f_lasti] in _SETS_ITEM:
        warnings.warn(
            "A value is being set on a copy of a frame or series through chained assignment: the "
            "original never changes. Set rows and column in one step: "
            "frame.loc[rows, column] = value.",
            pd.errors.ChainedAssignmentError,
            stacklevel=3,
        )
