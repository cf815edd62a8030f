# SPDX-License-Identifier: Apache-2.0
"""`series.str`: pandas' string methods, called once for each distinct string."""

import functools
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from ..table._by_pandas import by_pandas
from ..table._column import Column, ListType, of_family
from ..table._column_labels import Labels
from ..table._dictionary import UnencodedStrings
from ..table._distinct_values import code_counts, looked_up
from ..table._from_host import column_from
from ..table._lists import column_of_lists
from ..table._lists_on_host import lists_from_arrow
from ..table._ndframe import SeriesBase
from ..table._nullable import family_of
from ..table._recode import (
    look_up,
    renumbered,
    unencoded,
)
from ..table._string_bytes import bytes_of_strings
from ..table._table import Table
from ..table._to_host import host_array
from ..table._tracing import answered_at_once, is_traced
from ..table._types import DtypeLike
from ..table._unsupported import not_supported
from ._extractall import matches_of_rows
from ._read_only import ReadOnly
from ._str_cat import concatenated
from ._string_columns import (
    lists_of_rows,
    of_objects,
    results_of_rows,
    tuples_of_rows,
    with_strings,
)

Method: TypeAlias = Callable[..., Any]
# Methods whose results are lists, also of no strings.
OF_LISTS = ("split", "rsplit", "findall")
# Methods whose results are objects, also of no strings, unless they are columns.
OF_OBJECTS = ("partition", "rpartition", "encode")
# Fewer strings take less time than the threads.
LEAST_BY_THREADS = 1 << 16
# pandas' answer for a missing string is kept if all arguments have one of these types.
_PLAIN = frozenset((str, int, float, bool, type(None)))


def _by_threads(strings: pd.Series, method: Callable[[pd.Series], Any]) -> Any:
    """Applies a method to pieces of many strings at once: Arrow's kernels run in parallel."""
    num_threads = pa.cpu_count()
    if len(strings) < LEAST_BY_THREADS or num_threads == 1:
        return method(strings)
    bounds = np.linspace(0, len(strings), num_threads + 1).astype(int)
    pieces = [strings.iloc[start:stop] for start, stop in itertools.pairwise(bounds)]
    with ThreadPoolExecutor(num_threads) as threads:
        return pd.concat(list(threads.map(method, pieces)), ignore_index=True)


def pandas_method(
    name: str, about: str, owner: str = "StringMethods", accessor: str = "str"
) -> Any:
    """A method with the arguments of pandas' method, which the host calls."""

    def method(self: Any, *args: object, **kwargs: object) -> Any:
        return self._map(name, args, kwargs)

    method.__name__ = name
    method.__qualname__ = f"{owner}.{name}"
    method.__doc__ = f"{about} As pandas' `Series.{accessor}.{name}`."
    return method


_method = pandas_method


class StringMethods(ReadOnly):
    """`series.str`: pandas' string methods, on the dictionary of the column.

    The host calls a method once for each distinct string, or for each row of a long column of
    near-unique strings; the device looks the results up. Methods work inside `jit`, too.

    Differences from pandas:
        A category of strings gives a column of the dtype of its categories; pandas returns objects
        for some methods.

    Example:
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(["ab", None, "c"]).str.upper().tolist()
        ['AB', nan, 'C']
    """

    def __init__(self, series: SeriesBase):
        self._series = series
        column: Column = series._only
        self._holds_objects = column.kind == "object"
        self._column = with_strings(column)

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, slice):
            return self._map("slice", (key.start, key.stop, key.step), {})
        return self._map("get", (key,), {})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(pd.Series.str, name):
            raise not_supported("StringMethods", "str", name)
        raise AttributeError(f"'StringMethods' object has no attribute {name!r}")

    # Subscripts would make it iterable, without an end.
    __iter__ = None

    # Lengths and counts.
    len: Method = _method("len", "The number of characters.")
    count: Method = _method("count", "The number of occurrences of a pattern.")
    find: Method = _method("find", "The first position of a substring, or -1.")
    rfind: Method = _method("rfind", "The last position of a substring, or -1.")

    # Predicates, False for missing values.
    contains: Method = _method("contains", "Whether a pattern, or a literal, occurs.")
    startswith: Method = _method("startswith", "Whether strings start with a prefix.")
    endswith: Method = _method("endswith", "Whether strings end with a suffix.")
    match: Method = _method("match", "Whether a pattern matches at the start.")
    fullmatch: Method = _method("fullmatch", "Whether a pattern matches as a whole.")
    isalnum: Method = _method("isalnum", "Whether all characters are letters or digits.")
    isalpha: Method = _method("isalpha", "Whether all characters are letters.")
    isascii: Method = _method("isascii", "Whether all characters are ASCII.")
    isdecimal: Method = _method("isdecimal", "Whether all characters are decimal digits.")
    isdigit: Method = _method("isdigit", "Whether all characters are digits.")
    islower: Method = _method("islower", "Whether all letters are lowercase.")
    isnumeric: Method = _method("isnumeric", "Whether all characters are numeric.")
    isspace: Method = _method("isspace", "Whether all characters are whitespace.")
    istitle: Method = _method("istitle", "Whether all words are in title case.")
    isupper: Method = _method("isupper", "Whether all letters are uppercase.")

    # Transformations.
    capitalize: Method = _method(
        "capitalize", "Makes the first letter uppercase and others lowercase."
    )
    casefold: Method = _method("casefold", "Folds case for comparisons.")
    center: Method = _method("center", "Pads on both sides.")
    get: Method = _method("get", "The character at a position; missing if out of range.")
    join: Method = _method("join", "Puts a separator between the characters.")
    ljust: Method = _method("ljust", "Pads on the right.")
    lower: Method = _method("lower", "Converts to lowercase.")
    lstrip: Method = _method("lstrip", "Strips characters on the left.")
    normalize: Method = _method("normalize", "Converts to a Unicode normal form.")
    pad: Method = _method("pad", "Pads on one side or both.")
    removeprefix: Method = _method("removeprefix", "Removes a prefix.")
    removesuffix: Method = _method("removesuffix", "Removes a suffix.")
    replace: Method = _method("replace", "Replaces a literal or a pattern.")
    rjust: Method = _method("rjust", "Pads on the left.")
    rstrip: Method = _method("rstrip", "Strips characters on the right.")
    slice: Method = _method("slice", "The substring of a range of positions.")
    slice_replace: Method = _method("slice_replace", "Replaces a range of positions.")
    strip: Method = _method("strip", "Strips characters on both sides.")
    swapcase: Method = _method("swapcase", "Swaps uppercase and lowercase.")
    title: Method = _method("title", "Converts to title case.")
    translate: Method = _method("translate", "Replaces characters by a table.")
    upper: Method = _method("upper", "Converts to uppercase.")
    wrap: Method = _method("wrap", "Wraps into lines.")
    zfill: Method = _method("zfill", "Pads with zeros on the left.")

    # Bytes, which are objects.
    decode: Method = _method("decode", "Decodes bytes to strings.")
    encode: Method = _method("encode", "Encodes strings as bytes, which are objects.")

    # Several columns.
    extract: Method = _method("extract", "The groups of a pattern, a column for each.")

    def repeat(self, repeats: object) -> Any:
        """Repeats each string, a number of times that is given for all rows or for each one."""
        if isinstance(repeats, (int, np.integer)):
            return self._map("repeat", (repeats,), {})
        counts = repeats.to_pandas() if isinstance(repeats, SeriesBase) else repeats
        return by_pandas(
            self._series, "str.repeat: a number for each row", "Pass one number for all rows.",
            lambda data: data.str.repeat(counts),
        )  # fmt: skip

    def partition(self, sep: str = " ", expand: bool = True) -> Any:
        """Three columns: before a separator, the separator, and after it.

        As in pandas there is no column for no rows, and one for missing strings alone; inside `jit`
        there are three.
        """
        return self._map("partition", (), {"sep": sep, "expand": expand}, used_only=self._is_known)

    def rpartition(self, sep: str = " ", expand: bool = True) -> Any:
        """Like `partition`, at the last separator."""
        return self._map("rpartition", (), {"sep": sep, "expand": expand}, used_only=self._is_known)

    @property
    def _is_known(self) -> bool:
        """Whether the strings of the rows are known, which they are outside `jit`."""
        return not is_traced(self._column.data, self._series._table.num_rows)

    # Lists, one for each row.
    findall: Method = _method("findall", "All matches of a pattern, a list for each string.")

    def split(
        self, pat: object = None, *, n: int = -1, expand: bool = False, regex: object = None
    ) -> Any:
        """The pieces between separators: a list for each string, or with `expand` columns.

        With `expand` it is not supported inside `jit`, where the number of pieces is not known.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(["a b", "c"]).str.split().explode().tolist()
            ['a', 'b', 'c']
        """
        settings = {"pat": pat, "n": n, "expand": expand, "regex": regex}
        return self._map("split", (), settings, used_only=expand)

    def rsplit(self, pat: object = None, *, n: int = -1, expand: bool = False) -> Any:
        """Like `split`, from the right."""
        settings = {"pat": pat, "n": n, "expand": expand}
        return self._map("rsplit", (), settings, used_only=expand)

    def extractall(self, pat: str, flags: int = 0, *, capacity: int | None = None) -> Any:
        """The groups of each match of a pattern: a row for each match, a column for each group.

        The index has the labels of the rows, and a level "match" with the number of the match.
        Inside `jit`, `capacity` must be the maximum number of matches.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> found = JaxSeries(["a1b2", "c"]).str.extractall("([a-z])([0-9])")
            >>> found[0].tolist(), found[1].tolist()
            (['a', 'b'], ['1', '2'])
        """
        column, strings = self._distinct()
        matches = strings.str.extractall(pat, flags=flags)
        rows = self._series._table
        return matches_of_rows(self._series, column, matches, len(strings), capacity, rows)

    def to_bytes(self) -> Any:
        """Converts each string to the list of its UTF-8 bytes, uint8.

        `to_ragged()` of the result gives the primitives bytes and offsets, inside `jit` too. A
        missing string is a missing list. pandas has no such method.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> text = JaxSeries(["ab", "", "b"])
            >>> ragged = text.str.to_bytes().to_ragged()
            >>> ragged.values.tolist(), ragged.offsets.tolist()
            ([97, 98, 98], [0, 2, 2, 3])
        """
        column, strings = self._distinct()
        if self._holds_objects:
            raise NotImplementedError(
                f"to_bytes: values must be strings, got {column.dtype_name}. Use astype(str) first."
            )
        content, offsets = bytes_of_strings(strings)
        lists = pa.LargeListArray.from_arrays(offsets, content)
        layout = self._series._layout
        room = layout.capacity_for(len(lists))
        found = lists_from_arrow(lists, ListType(), room, layout, "str", column_from)
        return self._series._with_column(column_of_lists(column.data, found.lists))

    def get_dummies(self, sep: str = "|", dtype: DtypeLike = None) -> Any:
        """One-hot encodes the pieces between separators; not supported inside `jit`."""
        wanted = None if dtype is None else pd.api.types.pandas_dtype(dtype)
        if wanted is not None and not pd.api.types.is_numeric_dtype(wanted):
            raise ValueError(
                "Only numeric or boolean dtypes are supported for 'dtype', got "
                f"{wanted}. Call astype on the result."
            )
        found = self._map("get_dummies", (sep,), {}, used_only=True)
        return found if dtype is None else found.astype(dtype)

    def cat(
        self,
        others: Any = None,
        sep: str | None = None,
        na_rep: str | None = None,
        join: str = "left",
    ) -> Any:
        """Concatenates with strings of other columns row by row, or all strings into one.

        Series and frames are aligned by label, others are taken by position. Other joins than
        "left", and labels that repeat, run on the host.

        Differences from pandas:
            Not supported inside `jit`, because the host concatenates each distinct pair. The index
            of a frame is that of pandas, whose `str.cat` takes our series by position.
        """
        return concatenated(self._series, self._column, others, sep, na_rep, join)

    def _distinct(self) -> tuple[Column, pd.Series]:
        """The column of codes, and the string of each code."""
        column = unencoded(self._column)
        values = column.dictionary.values
        if isinstance(column.dictionary, UnencodedStrings):
            # The positions of missing strings are -1, so no row reads their results.
            values = values.fillna("")
        is_string = column.kind == "string" and not column.is_nullable
        if is_string and isinstance(values.dtype, pd.StringDtype):
            return column, pd.Series(values)
        # Categories that are not strings give missing results, as pandas' objects do.
        dtype = "str" if column.kind == "string" else object
        if column.is_nullable:
            # pandas' methods of nullable strings give nullable results.
            dtype = column.type.nullable(column.dtype)
        return column, pd.Series(values, dtype=dtype)

    def _map(self, name: str, args: Any, kwargs: Any, *, used_only: bool = False) -> Any:
        column, strings = self._distinct()
        if used_only:
            used = used_codes(column, self._series._table, f"str.{name}")
            strings = strings.loc[used].reset_index(drop=True)
            column = column.with_arrays((renumbered(column.data, np.cumsum(used) - 1), None))
        results = _by_threads(strings, lambda piece: getattr(piece.str, name)(*args, **kwargs))
        rows = self._series._table
        if isinstance(results, pd.DataFrame):
            is_flags = name == "get_dummies"
            if not (len(strings) or is_flags or (used_only and not len(self._series))):
                # No row reads it, but the result has its columns.
                placeholder = pd.Series([None if used_only else ""], dtype=strings.dtype)
                results = getattr(placeholder.str, name)(*args, **kwargs)
            columns = [
                _flags_of(column, one) if is_flags else self._looked_up(column, one, None)
                for _, one in results.items()
            ]
            return self._series._make_frame(columns, Labels(results.columns))
        # Among lists a missing string is that of the series: NaN in a category of `string`.
        own = of_family(column, self._series._only.family)
        if name in OF_LISTS and not self._holds_objects:
            column = lists_of_rows(own, results, rows)
        elif name in OF_OBJECTS and results.dtype == object and not self._holds_objects:
            column = tuples_of_rows(own, results, rows)
        else:
            missing_result = _missing_result(name, strings.dtype, args, kwargs)
            column = self._looked_up(column, results, missing_result)
        # `extract` names a series by its group.
        return self._series._with_column(column, ... if results.name is None else results.name)

    def _looked_up(self, column: Column, results: pd.Series, missing_result: object) -> Column:
        """The result of each row's code; those of objects stay objects."""
        rows = self._series._table
        if self._holds_objects and results.dtype == object:
            return looked_up(of_objects(results), column.data, rows.num_rows, rows.layout)
        return results_of_rows(column, results, missing_result, rows)


def _missing_result(name: str, dtype: Any, args: Any, kwargs: Any) -> Any:
    """What pandas' method gives for a missing string."""
    given = (*args, *kwargs.values())
    is_plain = all(type(one) in _PLAIN for one in given)
    ask = _ask_missing_result if is_plain else _ask_missing_result.__wrapped__
    # Equal arguments may differ in type, and in the sign of zero.
    return ask(name, dtype, args, tuple(kwargs.items()), repr(given))


def _flags_of(column: Column, flags: pd.Series) -> Column:
    """The flag of each row's code; a missing string has no piece."""
    values = flags.to_numpy()
    found = Column(look_up(column.data, values, values.dtype.type(0)))
    return of_family(found, family_of(flags.dtype))


@functools.lru_cache(maxsize=256)
def _ask_missing_result(name: str, dtype: Any, args: Any, kwargs: Any, text: str) -> Any:
    del text
    return getattr(pd.Series([None], dtype=dtype).str, name)(*args, **dict(kwargs)).iloc[0]


@answered_at_once
def used_codes(column: Column, table: Table, caller: str) -> np.ndarray:
    """Whether each string of the dictionary occurs in a row, on the host."""
    if is_traced(column.data, table.num_rows):
        raise NotImplementedError(
            f"{caller}: the strings of the rows are not known inside jit. Call it outside jit."
        )
    counts = code_counts(column, table.num_rows, table.layout)
    return host_array(counts)[: len(column.dictionary)] > 0
