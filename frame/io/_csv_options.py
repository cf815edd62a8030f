# SPDX-License-Identifier: Apache-2.0
"""pandas' arguments of `read_csv` in Arrow's words."""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from ..table._nullable import default_dtype

# pandas' words for missing values.
NULLS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
TRUE_WORDS = ("True", "TRUE", "true")
FALSE_WORDS = ("False", "FALSE", "false")
# Arguments without a counterpart, and what to do.
INSTEAD = {
    "quoting": "quotechar=None for files without quotes",
    "iterator": "chunksize=",
    "chunksize": "read_csv, or scan_csv().batches()",
    "lineterminator": "files whose lines end in \\n, \\r or \\r\\n",
    "dialect": "sep=, quotechar=, escapechar= and doublequote=",
    "encoding_errors": "encoding=",
    **dict.fromkeys(
        (
            *("names", "usecols", "dtype", "index_col", "skiprows", "nrows", "header", "comment"),
            *("parse_dates", "date_format", "dayfirst", "thousands", "compression"),
            *("on_bad_lines", "storage_options", "filesystem", "converters", "skipfooter"),
            "skipinitialspace",
        ),
        "read_csv(...).lazy(), or methods of the plan",
    ),
}
# Arguments that say how pandas reads, not what.
IGNORED = ("engine", "low_memory", "memory_map", "float_precision", "cache_dates")


@dataclasses.dataclass(frozen=True)
class CsvFormat:
    """How a file is divided into values, and which values mean what."""

    sep: str = ","
    quotechar: str | None = '"'
    doublequote: bool = True
    escapechar: str | None = None
    skip_blank_lines: bool = True
    on_bad_lines: Any = "error"
    encoding: str = "utf8"
    decimal: str = "."
    na_values: Any = None
    keep_default_na: bool = True
    na_filter: bool = True
    true_values: Sequence[str] | None = None
    false_values: Sequence[str] | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of `read_csv` for files of this format."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def parse(self) -> csv.ParseOptions:
        """How Arrow divides lines."""
        return csv.ParseOptions(
            delimiter=self.sep,
            quote_char=self.quotechar or False,
            double_quote=self.doublequote,
            escape_char=self.escapechar or False,
            ignore_empty_lines=self.skip_blank_lines,
            invalid_row_handler=self._bad_line_handler(),
        )

    def nulls(self, given: Any) -> list[str]:
        """The texts of missing values, with those that are given."""
        more = list(given or ()) if pd.api.types.is_list_like(given) or not given else [given]
        texts = [text for one in more for text in _texts_of(one)]
        return [*(NULLS if self.keep_default_na else ()), *texts] if self.na_filter else []

    def _bad_line_handler(self) -> Any:
        how = self.on_bad_lines
        if how == "error":
            return None
        if how not in ("skip", "warn"):
            raise ValueError(
                "read_csv: on_bad_lines must be 'error', 'warn' or 'skip', got "
                f"{how!r}. Functions of lines are not supported."
            )

        def skip(row: Any) -> str:
            if row.actual_columns < row.expected_columns:
                # pandas pads such a line, and so does `with_even_lines`.
                return "error"
            if how == "warn":
                text = f"Skipping line {row.number or ''}: expected {row.expected_columns} fields,"
                warnings.warn(
                    f"{text} saw {row.actual_columns}", pd.errors.ParserWarning, stacklevel=2
                )
            return "skip"

        return skip

    def convert(self) -> dict[str, Any]:
        """How Arrow converts values."""
        if isinstance(self.na_values, Mapping):
            raise NotImplementedError(
                "na_values must be a list for all columns, got a dict. Use read_csv(), or call "
                "replace() on the columns."
            )
        return {
            "null_values": self.nulls(self.na_values),
            "strings_can_be_null": self.na_filter,
            "true_values": [*TRUE_WORDS, *(self.true_values or ())],
            "false_values": [*FALSE_WORDS, *(self.false_values or ())],
            "decimal_point": self.decimal,
        }


def style_of(options: Mapping[str, object], caller: str) -> CsvFormat:
    """The format that arguments describe; other arguments of pandas raise.

    Lists become tuples, so that equal formats are equal.
    """
    names = {field.name for field in dataclasses.fields(CsvFormat)} - {"on_bad_lines"}
    chosen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in options.items()
        if name in names
    }
    check_rest({name: one for name, one in options.items() if name not in names}, caller)
    style = CsvFormat(**chosen)
    style.convert()
    return style


def check_rest(rest: Mapping[str, object], caller: str) -> None:
    """Raises for arguments without a counterpart; each error names the way."""
    for name, value in rest.items():
        if name in IGNORED:
            continue
        if name in INSTEAD:
            raise NotImplementedError(
                f"{caller}: {name}={value!r} is not supported. Use {INSTEAD[name]}, or pandas' "
                "reader and from_pandas()."
            )
        raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")


def without_comments(content: Any, mark: str, quotechar: str | None) -> bytes:
    """The lines without what follows a mark that is not in quotes; empty lines go."""
    byte, quote = mark.encode(), (quotechar or "").encode()
    lines = []
    for line in bytes(content).splitlines(keepends=True):
        at = _comment_start(line, byte, quote)
        if at is None:
            lines.append(line)
        elif line[:at].strip():
            lines.append(line[:at] + b"\n")
    return b"".join(lines)


def _comment_start(line: bytes, mark: bytes, quote: bytes) -> int | None:
    at = line.find(mark)
    while at >= 0 and quote and line.count(quote, 0, at) % 2:
        at = line.find(mark, at + 1)
    return at if at >= 0 else None


def default_of(dtype: object) -> Any:
    """The default dtype of a dtype; see `default_dtype`."""
    return default_dtype(pd.api.types.pandas_dtype(dtype))


def arrow_type(dtype: object) -> pa.DataType:
    """The type as which a column with a dtype is read."""
    dtype = default_of(dtype)
    is_text = isinstance(dtype, (pd.StringDtype, pd.CategoricalDtype))
    if is_text or dtype == np.dtype(object):
        return pa.large_string()
    return pa.from_numpy_dtype(dtype)


def _texts_of(value: object) -> list[str]:
    """The texts of a missing value: a whole number is one with a decimal point, too."""
    text = str(value)
    try:
        number = float(text)
    except ValueError:
        return [text]
    if not number.is_integer():
        return [text]
    return list(dict.fromkeys((text, str(int(number)), f"{int(number)}.0")))
