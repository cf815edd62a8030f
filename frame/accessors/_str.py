# SPDX-License-Identifier: Apache-2.0
"""`series.str`: what strings are and contain, worked out once for each distinct one."""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..table._column import Array, Column, ColumnType, host_array
from ..table._column_labels import Labels
from ..table._dictionary import encode_strings
from ..table._ndframe import SeriesBase
from ..table._recode import as_string, holds_strings, look_up, renumbered
from ..table._table import Table
from ..table._take import settled
from ..table._tracing import answered_at_once, is_traced
from ._str_cat import concatenated

Method: TypeAlias = Callable[..., Any]


def of_dictionary(column: Column, made: pd.Series, of_missing: Any) -> Column:
    """A column with what was made of each string of the dictionary.

    Args:
        column: the codes.
        made: a value for each code.
        of_missing: what a missing string becomes: missing too, or a bool.

    Raises:
        NotImplementedError: the values are lists or other objects.
    """
    if isinstance(made.dtype, pd.StringDtype) or (made.dtype == object and not len(made)):
        codes, dictionary = encode_strings(made.array)
        return Column(renumbered(column.data, codes), None, ColumnType("string", dictionary))
    if made.dtype == object:
        raise NotImplementedError(
            "str: the values of a method must be strings, numbers or bools, got objects. "
            "Use to_pandas(), or expand=True for several columns."
        )
    table = made.to_numpy()
    if table.dtype == np.bool_ and isinstance(of_missing, (bool, np.bool_)):
        return Column(look_up(column.data, table, np.bool_(of_missing)))
    if table.dtype.kind == "f":
        return Column(look_up(column.data, table, table.dtype.type(np.nan)))
    data = look_up(column.data, table, table.dtype.type(0))
    return Column(data, column.data >= 0)


def _method(name: str, about: str) -> Method:
    def method(self: "StringMethods", *args: Any, **kwargs: Any) -> Any:
        return self._map(name, args, kwargs)

    method.__name__ = name
    method.__qualname__ = f"StringMethods.{name}"
    method.__doc__ = f"{about} As pandas' `Series.str.{name}`."
    return method


class StringMethods:
    """`series.str`: pandas' methods of strings, on the dictionary of the column.

    Each distinct string is looked at once, on the host; the device looks the answers up. So they
    work inside `jit` too, where the dictionary is known.

    Differences from pandas:
        The strings of a category give a string column, by the rules of strings: pandas gives one
        of objects.

    Example:
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(["ab", None, "c"]).str.upper().tolist()
        ['AB', nan, 'C']
    """

    def __init__(self, series: Any):
        self._series = series
        self._column: Column = as_string(series._only)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._map("slice", (key.start, key.stop, key.step), {})
        return self._map("get", (key,), {})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(pd.Series.str, name):
            raise NotImplementedError(f"str: {name} is not built. Use to_pandas().")
        raise AttributeError(f"'StringMethods' object has no attribute {name!r}")

    # Lengths and counts.
    len: Method = _method("len", "The number of characters.")
    count: Method = _method("count", "How often a pattern occurs.")
    find: Method = _method("find", "Where a substring is first; -1 where it is not.")
    rfind: Method = _method("rfind", "Where a substring is last; -1 where it is not.")

    # Questions, False for what is missing.
    contains: Method = _method("contains", "Whether a pattern, or a literal, occurs.")
    startswith: Method = _method("startswith", "Whether a string starts so.")
    endswith: Method = _method("endswith", "Whether a string ends so.")
    match: Method = _method("match", "Whether a pattern matches at the start.")
    fullmatch: Method = _method("fullmatch", "Whether a pattern matches as a whole.")
    isalnum: Method = _method("isalnum", "Whether all are letters or digits.")
    isalpha: Method = _method("isalpha", "Whether all are letters.")
    isascii: Method = _method("isascii", "Whether all are ASCII.")
    isdecimal: Method = _method("isdecimal", "Whether all are decimal digits.")
    isdigit: Method = _method("isdigit", "Whether all are digits.")
    islower: Method = _method("islower", "Whether all letters are small.")
    isnumeric: Method = _method("isnumeric", "Whether all are numeric.")
    isspace: Method = _method("isspace", "Whether all are white space.")
    istitle: Method = _method("istitle", "Whether words begin with capitals.")
    isupper: Method = _method("isupper", "Whether all letters are capitals.")

    # Other strings.
    capitalize: Method = _method("capitalize", "The first letter as a capital, the rest small.")
    casefold: Method = _method("casefold", "Without case, to be compared.")
    center: Method = _method("center", "Filled up on both sides.")
    get: Method = _method("get", "The character at a place; missing where there is none.")
    ljust: Method = _method("ljust", "Filled up on the right.")
    lower: Method = _method("lower", "All letters small.")
    lstrip: Method = _method("lstrip", "Without what stands on the left.")
    normalize: Method = _method("normalize", "In a normal form of Unicode.")
    pad: Method = _method("pad", "Filled up on a side.")
    removeprefix: Method = _method("removeprefix", "Without a prefix.")
    removesuffix: Method = _method("removesuffix", "Without a suffix.")
    replace: Method = _method("replace", "With a literal, or a pattern, replaced.")
    rjust: Method = _method("rjust", "Filled up on the left.")
    rstrip: Method = _method("rstrip", "Without what stands on the right.")
    slice: Method = _method("slice", "The characters of a range of places.")
    slice_replace: Method = _method("slice_replace", "With a range of places replaced.")
    strip: Method = _method("strip", "Without what stands at both ends.")
    swapcase: Method = _method("swapcase", "Small letters as capitals and the other way round.")
    title: Method = _method("title", "Each word with a capital.")
    translate: Method = _method("translate", "With characters replaced by a table.")
    upper: Method = _method("upper", "All letters as capitals.")
    wrap: Method = _method("wrap", "Broken into lines.")
    zfill: Method = _method("zfill", "Filled up with zeros on the left.")

    # As many columns as the pattern has.
    extract: Method = _method("extract", "The groups of a pattern, a column for each.")

    def repeat(self, repeats: int) -> Any:
        """The string several times."""
        if not isinstance(repeats, (int, np.integer)):
            raise NotImplementedError(
                f"str.repeat: repeats must be one integer for all rows, got {repeats!r}."
            )
        return self._map("repeat", (repeats,), {})

    def partition(self, sep: str = " ", expand: bool = True) -> Any:
        """Three columns: before a separator, it, and behind it."""
        return self._map("partition", (sep, expand), {})

    def rpartition(self, sep: str = " ", expand: bool = True) -> Any:
        """As `partition`, at the last separator."""
        return self._map("rpartition", (sep, expand), {})

    def split(
        self, pat: Any = None, *, n: int = -1, expand: bool = False, regex: Any = None
    ) -> Any:
        """The pieces between separators, a column for each.

        Differences from pandas:
            `expand` must be true: no column holds lists. Not inside `jit`, where nobody knows how
            many pieces there are.
        """
        return self._split("split", expand, {"pat": pat, "n": n, "expand": True, "regex": regex})

    def rsplit(self, pat: Any = None, *, n: int = -1, expand: bool = False) -> Any:
        """As `split`, counted from the right."""
        return self._split("rsplit", expand, {"pat": pat, "n": n, "expand": True})

    def _split(self, name: str, expand: bool, kwargs: dict[str, Any]) -> Any:
        if not expand:
            raise NotImplementedError(f"str.{name}: a column holds no lists. Pass expand=True.")
        return self._map(name, (), kwargs, used_only=True)

    def get_dummies(self, sep: str = "|") -> Any:
        """A column for each piece between separators: 1 where the string has it; not in `jit`."""
        return self._map("get_dummies", (sep,), {}, used_only=True)

    def cat(self, others: Any = None, sep: str | None = None, na_rep: str | None = None) -> Any:
        """Puts strings of other columns behind these, row by row; without others all into one.

        Differences from pandas:
            `others` must be a series, or a list of them. Not inside `jit`: the distinct pairs, or
            all strings, are put together on the host.
        """
        if others is None:
            if is_traced(self._series._table):
                raise NotImplementedError(
                    "str.cat: inside jit there is no string of all. Call it before."
                )
            return self._series.to_pandas().str.cat(sep=sep, na_rep=na_rep)
        column = self._column
        for other in others if isinstance(others, (list, tuple)) else [others]:
            column = concatenated(column, other, self._series._table, sep or "", na_rep)
        return self._series._with_column(column)

    def _map(self, name: str, args: Any, kwargs: Any, *, used_only: bool = False) -> Any:
        strings: Any = pd.Series(self._column.dictionary.values, dtype="str")
        column = self._column
        if used_only:
            used = used_codes(column, self._series._table, f"str.{name}")
            strings = strings[used].reset_index(drop=True)
            column = Column(renumbered(column.data, np.cumsum(used) - 1), None, column.type)
        made = getattr(strings.str, name)(*args, **kwargs)
        num_rows = self._series._table.num_rows
        if isinstance(made, pd.DataFrame):
            labels = Labels(made.columns)
            of_none = 0 if name == "get_dummies" else None
            columns = [
                self._settled(of_dictionary(column, made.iloc[:, place], None), num_rows, of_none)
                for place in range(made.shape[1])
            ]
            return self._series._make_frame(columns, labels)
        of_missing = getattr(pd.Series([None], dtype="str").str, name)(*args, **kwargs)
        column = of_dictionary(column, made, of_missing.iloc[0])
        return self._series._with_column(self._settled(column, num_rows, None))

    def _settled(self, column: Column, num_rows: Any, of_none: Any) -> Column:
        if of_none is not None and column.valid is not None:
            # What a missing string has none of: the look-up gave it zero.
            return Column(column.data)
        return settled(column, num_rows)


@answered_at_once
def used_codes(column: Column, table: Table, caller: str) -> np.ndarray:
    """Whether each string of the dictionary stands in a row: on the host."""
    if is_traced(column.data, table.num_rows):
        raise NotImplementedError(
            f"{caller}: inside jit nobody knows which strings there are. Call it before."
        )
    room = table.layout.capacity_for(len(column.dictionary))
    flags = _used(column.data, table.is_row(), room, table.layout)
    return host_array(flags)[: len(column.dictionary)]


def _used(codes: Array, valid: Array, room: int, layout: Any) -> Array:
    ids = jnp.where(valid, codes, np.int32(-1))
    return primitives.segment_count(ids, room, **layout.on_mesh) > 0


class SeriesStrings(SeriesBase):
    """The accessor of strings."""

    @property
    def str(self) -> StringMethods:
        """The methods of strings."""
        column = self._only
        if column.kind == "string" or (
            column.kind == "category" and holds_strings(column.dictionary.values)
        ):
            return StringMethods(self)
        kind = _inferred(column)
        raise AttributeError(
            f"Can only use .str accessor with string values, not {kind}, in series {self._name!r}"
        )


def _inferred(column: Column) -> Any:
    if column.kind == "number":
        return {"b": "boolean", "f": "floating", "c": "complex"}.get(column.dtype.kind, "integer")
    return column.kind
