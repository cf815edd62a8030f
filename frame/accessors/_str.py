# SPDX-License-Identifier: Apache-2.0
"""`series.str`: pandas' string methods, called once for each distinct string."""

import functools
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa

from ... import primitives
from ..align._as_column import as_column
from ..table._arguments import listed
from ..table._by_pandas import by_pandas
from ..table._column import NUMBER, Column, ColumnType, ListType, of_family
from ..table._column_labels import Labels
from ..table._dictionary import Dictionary, UnencodedStrings, encode_each
from ..table._distinct_values import code_counts, column_of_results, looked_up
from ..table._from_host import column_from
from ..table._host_column import HostColumn
from ..table._layout import ONE_DEVICE
from ..table._lists import column_of_lists
from ..table._lists_on_host import lists_from_arrow
from ..table._ndframe import SeriesBase
from ..table._nullable import family_of
from ..table._recode import (
    as_string,
    has_strings,
    look_up,
    look_up_few,
    renumbered,
    strings_at,
    unencoded,
)
from ..table._string_bytes import bytes_of_strings
from ..table._table import Table
from ..table._to_host import host_array
from ..table._tracing import answered_at_once, at_once, is_traced
from ..table._types import DtypeLike
from ..table._unsupported import not_supported
from ..table._user_functions import as_pandas
from ._extractall import matches_of_rows

Method: TypeAlias = Callable[..., Any]
# Kinds of values with string methods, as pandas infers them. Mixed values include strings.
STRING_KINDS = ("string", "bytes", "mixed", "mixed-integer", "empty")


def kind_of_strings(column: Column) -> str:
    """The kind of the values, or of the categories that pandas' string methods accept."""
    if column.kind == "number":
        return {"b": "boolean", "f": "floating", "c": "complex"}.get(column.dtype.kind, "integer")
    if column.kind in ("category", "object"):
        assert column.type.dictionary is not None
        kind = pd.api.types.infer_dtype(column.type.dictionary.values, skipna=True)
        return kind if kind in STRING_KINDS else column.kind
    return column.kind


def _with_strings(column: Column) -> Column:
    """Strings of categories, and objects as categories, as string methods see them."""
    if column.kind == "object":
        # Their values are no strings alone.
        values: Any = column.type.dictionary
        categories = Dictionary(pd.Index(values.values, dtype=object))
        return Column(column.data, None, ColumnType("category", categories))
    return as_string(column) if has_strings(column) else column


def _column_of(column: Column, results: pd.Series, missing_result: object, rows: Table) -> Column:
    """Looks up the result for each row's code; `missing_result` if it is a bool, for no code."""
    if isinstance(missing_result, (bool, np.bool_)):
        if results.dtype == np.bool_:
            few = look_up_few(column, results.to_numpy(), missing_result)
            if few is not None:
                return HostColumn((few, None), NUMBER)
            return Column(look_up(column.data, results.to_numpy(), np.bool_(missing_result)))
        # Nullable flags are NA for no code, unless `na=` says what they are.
        column, results = _with_result_of_none(column, results, missing_result)
    if results.dtype == object:
        kind = pd.api.types.infer_dtype(results, skipna=True)
        if kind not in ("boolean", "string", "empty"):
            return _column_of_objects(column, results, rows)
        results = results if kind == "boolean" else results.astype("str")
    few = _few_strings(column, results)
    if few is not None:
        return few
    return looked_up(column_of_results(results, "str"), column.data, rows.num_rows, rows.layout)


# So many strings take less time in Python than to be made an array of Arrow and ranked.
MOST_SORTED = 256


def _few_strings(column: Column, results: pd.Series) -> Column | None:
    """The strings of few rows' codes, of a small dictionary; None if there is more to do."""
    is_small = len(results) <= MOST_SORTED and column.family is None
    dtype = results.dtype
    # Those that Python stores, by an option of pandas, stay so.
    if not is_small or dtype != "str" or getattr(dtype, "storage", None) != "pyarrow":
        return None
    strings = tuple(results)
    if not all(type(string) is str for string in strings):
        return None
    new_codes, dictionary = encode_each(strings)
    few = look_up_few(column, new_codes, np.int32(-1))
    return None if few is None else HostColumn((few, None), ColumnType("string", dictionary))


def _with_result_of_none(
    column: Column, results: pd.Series, result: object
) -> tuple[Column, pd.Series]:
    """The results with one more, which rows without a code get."""
    results = pd.concat([results, pd.Series([result], dtype=results.dtype)], ignore_index=True)
    codes = jnp.where(column.data < 0, np.int32(len(results) - 1), column.data)
    return column.with_arrays((codes, None)), results


def _column_of_objects(column: Column, results: pd.Series, rows: Table) -> Column:
    """Lists of strings as a column of lists, a list for each code; tuples as objects."""
    lists = [result for result in results if isinstance(result, list)]
    # Those of several groups of a pattern are tuples in lists, which would be lists in Arrow.
    is_tuple = any(isinstance(one, tuple) for one in itertools.chain(lists, *lists))
    if is_tuple or len(lists) < results.notna().sum():
        return _column_of_tuples(column, results, rows)
    arrow = pa.array(results, pa.large_list(pa.large_string()), from_pandas=True)
    form = {
        None: ListType(), "masked": ListType("nullable"),
        "arrow": ListType("arrow", pa.list_(pa.string())),
    }[column.family]  # fmt: skip
    lists = lists_from_arrow(
        arrow, form, rows.layout.capacity_for(len(arrow)), rows.layout, "str", column_from
    )
    if not arrow.null_count:
        return column_of_lists(column.data, lists.lists, form)
    numbers = np.where(arrow.is_null(), -1, np.arange(len(arrow)))
    return column_of_lists(renumbered(column.data, numbers), lists.lists, form)


def _column_of_tuples(column: Column, results: pd.Series, rows: Table) -> Column:
    """The object of each row's code."""
    if column.is_nullable:
        column, results = _with_result_of_none(column, results, pd.NA)
    return looked_up(_of_objects(results), column.data, rows.num_rows, rows.layout)


def _of_objects(results: pd.Series) -> Column:
    return column_from(results, ONE_DEVICE.capacity_for(len(results)), ONE_DEVICE)


# Methods whose results are lists, also of no strings.
OF_LISTS = ("split", "rsplit", "findall")
# Methods whose results are tuples, unless they are columns.
OF_TUPLES = ("partition", "rpartition")
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


class StringMethods:
    """`series.str`: pandas' string methods, on the dictionary of the column.

    The host calls a method once for each distinct string, or for each row of a long column of
    near-unique strings; the device looks the results up. Methods work inside `jit`, too.

    Differences from pandas:
        A category of strings gives a string column; pandas returns objects.

    Example:
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(["ab", None, "c"]).str.upper().tolist()
        ['AB', nan, 'C']
    """

    def __init__(self, series: SeriesBase):
        self._series = series
        column: Column = series._only
        self._holds_objects = column.kind == "object"
        self._column = _with_strings(column)

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, slice):
            return self._map("slice", (key.start, key.stop, key.step), {})
        return self._map("get", (key,), {})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(pd.Series.str, name):
            raise not_supported("StringMethods", "str", name)
        raise AttributeError(f"'StringMethods' object has no attribute {name!r}")

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

    def repeat(self, repeats: int) -> Any:
        """Repeats each string."""
        if not isinstance(repeats, (int, np.integer)):
            raise NotImplementedError(
                f"str.repeat: repeats must be one integer for all rows, got {repeats!r}."
            )
        return self._map("repeat", (repeats,), {})

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

        Other joins than "left" run on the host.

        Differences from pandas:
            Not supported inside `jit`, because the host concatenates each distinct pair.
        """
        if others is None:
            if is_traced(self._series._table):
                raise NotImplementedError(
                    "str.cat: without others it is not supported inside jit. Call it outside jit."
                )
            return self._series.to_pandas().str.cat(sep=sep, na_rep=na_rep)
        if join != "left":
            theirs = [as_pandas(one) for one in others] if isinstance(others, list) else others
            return by_pandas(
                self._series, "str.cat: join=", "Align the series first.",
                lambda data: data.str.cat(as_pandas(theirs), sep, na_rep, join),
            )  # fmt: skip
        if not len(others):
            column = self._series._only if self._holds_objects else self._column
            own: Any = self._series._with_column(column)
            return own.fillna(np.nan if na_rep is None else na_rep)
        if _are_strings(others):
            # By position; a list of columns has series.
            others = [pd.Series(list(others), dtype="str").array]
        column = self._column
        for other in listed(others):
            column = _concatenated(column, other, self._series._table, sep or "", na_rep)
        return self._series._with_column(column)

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
        if name in OF_LISTS and not self._holds_objects:
            column = _column_of_objects(column, results, rows)
        elif name in OF_TUPLES and results.dtype == object and not self._holds_objects:
            column = _column_of_tuples(column, results, rows)
        else:
            missing_result = _missing_result(name, strings.dtype, args, kwargs)
            column = self._looked_up(column, results, missing_result)
        # `extract` names a series by its group.
        return self._series._with_column(column, ... if results.name is None else results.name)

    def _looked_up(self, column: Column, results: pd.Series, missing_result: object) -> Column:
        """The result of each row's code; those of objects stay objects."""
        rows = self._series._table
        if self._holds_objects and results.dtype == object:
            return looked_up(_of_objects(results), column.data, rows.num_rows, rows.layout)
        return _column_of(column, results, missing_result, rows)


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
    return host_array(counts > 0)[: len(column.dictionary)]


def _concatenated(
    column: Column, other: object, table: Table, sep: str, na_rep: str | None
) -> Column:
    """Appends the strings of `other`, row by row."""
    column = _with_strings(column) if column.kind == "object" else column
    right = as_column(other, table, "others")
    if right.kind not in ("string", "category", "object"):
        raise TypeError(
            "Concatenation requires list-likes containing only strings (or missing values). "
            f"Offending values found in column of {right.dtype_name}"
        )
    right = _with_strings(right) if right.kind == "object" else as_string(right)
    if is_traced(column.data, right.data, table.num_rows):
        raise NotImplementedError(
            "str.cat: the pairs of strings are not known inside jit. Call it outside jit."
        )
    keys = column.data, right.data
    pairs = at_once(primitives.factorize, keys, num_valid=table.num_rows, **table.layout.on_mesh)
    count = int(pairs.count)
    # pandas raises for objects that are no strings, and gives the dtype of the left side.
    sides = [
        pd.Series(
            one.dictionary.take(host_array(codes)[:count]),
            dtype="str" if one.kind == "string" else object,
        )
        for one, codes in zip((column, right), pairs.unique_keys, strict=True)
    ]
    joined = sides[0].str.cat(sides[1], sep=sep, na_rep=na_rep)
    if column.kind == "string":
        return of_family(strings_at(jnp.asarray(pairs.group_ids), joined), column.family)
    return looked_up(_of_objects(joined), pairs.group_ids, table.num_rows, table.layout)


def _are_strings(others: object) -> bool:
    """Whether values are the strings of one column, of which some may be missing."""
    return isinstance(others, (list, tuple, pd.Index, np.ndarray)) and all(
        isinstance(one, str) or (pd.api.types.is_scalar(one) and pd.isna(one)) for one in others
    )
