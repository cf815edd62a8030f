# SPDX-License-Identifier: Apache-2.0
"""wide_to_long: columns of a name and a suffix become a column and a row for each suffix."""

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..table._arguments import given_frame, listed_labels
from ..table._dtypes import narrowed
from ..table._ndframe import FrameBase
from ..table._nullable import is_nullable
from ..table._tracing import is_traced
from ..table._untyped import untyped_pandas


def wide_to_long(
    df: object, stubnames: object, i: object, j: Hashable, sep: str = "", suffix: str = r"\d+"
) -> Any:
    """Reshapes columns such as "x1980", "x1990" to one column "x" and a row for each suffix.

    Args:
        df: the frame.
        stubnames: the starts of the labels of columns, without suffixes: one, or a list.
        i: the labels of columns that identify each row.
        j: the name of the level of suffixes.
        sep: what stands between a stub and a suffix.
        suffix: a regular expression of the suffixes.

    Returns:
        A frame with a row for each row and suffix, labeled by `i` and `j`, with the other columns,
        then one for each stub. A stub without a column for a suffix has missing values there.

    Raises:
        ValueError: a stub is the label of a column, or `i` does not identify rows.

    Differences from pandas:
        Labels of columns must be strings. Suffixes are numbers for all stubs or for none. Not
        supported inside `jit`, where rows cannot be checked.

    Example:
        >>> from jaxframes.frame import JaxFrame, wide_to_long
        >>> frame = JaxFrame({"k": ["a", "b"], "x1": [1, 2], "x2": [3, 4]})
        >>> wide_to_long(frame, "x", i="k", j="n").to_pandas().x.to_dict()
        {('a', 1): 1, ('b', 1): 2, ('a', 2): 3, ('b', 2): 4}
    """
    frame = given_frame(df, "wide_to_long")
    if is_traced(frame._table.num_rows, frame._table.columns):
        raise NotImplementedError(
            "wide_to_long: inside jit rows cannot be checked. Use melt() for each stub."
        )
    stubs, ids = listed_labels(stubnames), listed_labels(i)
    labels = list(frame._labels)
    if any(stub in labels for stub in stubs):
        raise ValueError("stubname can't be identical to a column name")
    if bool(frame[ids].duplicated().any()):
        raise ValueError("the id variables need to uniquely identify each row")
    found = {stub: _suffixes(labels, stub, sep, suffix) for stub in stubs}
    suffixes = list(dict.fromkeys(one for of_stub in found.values() for one in of_stub))
    wide = {label for of_stub in found.values() for label in of_stub.values()}
    others = frame._labels.index.difference(pd.Index(list(wide), dtype=frame._labels.index.dtype))
    rest = list(others)
    result = None
    for stub in stubs:
        column = _melted(frame, found[stub], suffixes, rest if result is None else [], stub)
        if result is None:
            result = column
        else:
            result[stub.rstrip(sep)] = column["value"]
    assert result is not None
    result = result.rename(columns={"value": stubs[0].rstrip(sep)})
    numbers = _as_numbers(pd.Series(suffixes, dtype=frame._labels.index.dtype))
    # A name of its own, because another column may have that of the level.
    result[_LEVEL] = narrowed(numbers.repeat(len(frame))).array
    if len(ids) == 1 and frame[ids[0]].dtype == object:
        # As in pandas, whose join of labels infers the dtype of strings.
        labels_of_rows = frame[ids[0]].to_pandas()
        if pd.api.types.infer_dtype(labels_of_rows, skipna=False) == "string":
            result[ids[0]] = result[ids[0]].astype("str")
    if len(ids) > 1:
        # As in pandas, the suffixes of a row stand together.
        order = np.arange(len(result)).reshape(len(suffixes), len(frame)).T.ravel()
        result = result.take(order)
    result = result.set_index([*ids, _LEVEL]).rename_axis(index=[*ids, j])
    shown = others[~others.isin(ids)].append(pd.Index([stub.rstrip(sep) for stub in stubs]))
    return result.set_axis(shown, axis=1)


# The column of suffixes until it is a level.
_LEVEL = "\0level"


def _suffixes(labels: Sequence[object], stub: str, sep: str, suffix: str) -> dict[str, str]:
    """The labels of the columns of a stub, by suffix."""
    pattern = re.compile(rf"^{re.escape(stub)}{re.escape(sep)}{suffix}$")
    own = [label for label in labels if isinstance(label, str) and pattern.match(label)]
    return {label[len(stub + sep) :]: label for label in own}


def _melted(
    frame: FrameBase, of_stub: dict[str, str], suffixes: list[str], rest: list[object], stub: str
) -> Any:
    """The other columns, and a column of the values of a stub, with all rows of each suffix."""
    wide = frame[rest]
    names = [f"{number}\0{stub}" for number in range(len(suffixes))]
    for name, one in zip(names, suffixes, strict=True):
        if one in of_stub:
            wide[name] = frame[of_stub[one]]
        elif of_stub:
            # Missing values of the type of the stub: a nullable one, if a column has it.
            own = [frame[label] for label in of_stub.values()]
            like = next((each for each in own if is_nullable(each.dtype)), own[0])
            wide[name] = like.where(np.zeros(len(frame), bool))
        else:
            wide[name] = np.nan
    return wide.melt(rest, names, var_name="\0suffix").drop(columns=["\0suffix"])


def _as_numbers(suffixes: pd.Series) -> pd.Series:
    """Suffixes as numbers, nullable ones for nullable strings; as they are if one is no number."""
    if not len(suffixes):
        return suffixes.astype("Int64" if is_nullable(suffixes.dtype) else "int64")
    try:
        return untyped_pandas.to_numeric(suffixes)
    except (TypeError, ValueError):
        return suffixes.astype(object)
