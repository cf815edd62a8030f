# SPDX-License-Identifier: Apache-2.0
"""Operators on each pair of dtypes: pandas' values and dtype wherever both give an answer.

What pandas has no answer for may have one here, and the other way round with an error. A missing
value is in each column that can have one: no operand has it as a number.
"""

import datetime
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from jaxframes.frame import JaxFrame, JaxSeries

COLUMNS = {
    "int64": pd.Series([1, 2]),
    "uint8": pd.Series([200, 3], dtype="uint8"),
    "float64": pd.Series([1.5, np.nan]),
    "bool": pd.Series([True, False]),
    "complex128": pd.Series([1j, np.nan]),
    "Int64": pd.Series([2, None], dtype="Int64"),
    "UInt8": pd.Series([200, None], dtype="UInt8"),
    "Float64": pd.Series([2.0, None], dtype="Float64"),
    "boolean": pd.Series([True, None], dtype="boolean"),
    "int64[pyarrow]": pd.Series([2, None], dtype="int64[pyarrow]"),
    "bool[pyarrow]": pd.Series([True, None], dtype="bool[pyarrow]"),
    "str": pd.Series(["a", None]),
    "string": pd.Series(["a", None], dtype="string"),
    "category": pd.Series(pd.Categorical([1, None])),
    "category of strings": pd.Series(pd.Categorical(["a", None])),
    "object": pd.Series([1, None], dtype=object),
    "object with NA": pd.Series([1, pd.NA], dtype=object),
    "datetime64": pd.Series(pd.to_datetime(["2020", None])),
    "zoned": pd.Series(pd.to_datetime(["2020", None]).tz_localize("Europe/Berlin")),
    "timedelta64": pd.Series(pd.to_timedelta([10, None])),
    "timestamp": pd.Series(pd.to_datetime(["2020", None])).astype("timestamp[ns][pyarrow]"),
    "duration": pd.Series(pd.to_timedelta([10, None])).astype("duration[ns][pyarrow]"),
    "date": pd.Series([datetime.date(2020, 1, 1), None], dtype=pd.ArrowDtype(pa.date32())),
    "decimal": pd.Series([Decimal("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    "period": pd.Series(pd.PeriodIndex(["2020", "NaT"], freq="D")),
}
SCALARS = {
    "1": 1,
    "0": 0,
    "-1": -1,
    "1.5": 1.5,
    "nan": np.nan,
    "None": None,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "True": True,
    "Timedelta": pd.Timedelta("1D"),
    "Timestamp": pd.Timestamp("2020-01-01"),
    "zoned Timestamp": pd.Timestamp("2020-01-01", tz="Europe/Berlin"),
    "Period": pd.Period("2020-01-01", freq="D"),
    "a": "a",
    "Decimal": Decimal("1.5"),
    "Decimal between floats": Decimal("1.1"),
    "Fraction": Fraction(3, 2),
    "int8": np.int8(3),
}
OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge",
    "and_", "or_", "xor",
)  # fmt: skip
COMPARED = {"eq", "ne"}
DIVIDED = {"truediv", "floordiv"}

# Left, right, operators, and why the answers differ.
TOLD = [
    ("*", "boolean", {"floordiv", "mod"}, "a missing bool is a zero in pandas"),
    ("boolean", "NA", {"add", "sub", "mul"}, "pandas has bools for a sum of nothing"),
    ("int64[pyarrow]", "missing", DIVIDED, "pandas has integers for a quotient of nothing"),
    ("uint8", "int64[pyarrow]", {"floordiv"}, "pandas has the left dtype"),
    ("UInt8", "int64[pyarrow]", {"floordiv"}, "pandas has the left dtype"),
    ("UInt8", "int8", {"and_", "or_", "xor"}, "pandas has the dtype of the column"),
    ("period", "uint8", {"sub"}, "pandas wraps the negated steps"),
    ("complex128", "*", {"pow"}, "powers differ in the last bit, and for NaN"),
    ("*", "complex128", {"pow"}, "powers differ in the last bit, and for NaN"),
    ("date", "NaT", COMPARED, "a comparison with a missing value of Arrow is missing"),
    ("date", "Timestamp", COMPARED, "a comparison with a missing value of Arrow is missing"),
    ("date", "zoned Timestamp", COMPARED, "a comparison with a missing value of Arrow is missing"),
    ("decimal", "category", COMPARED, "a comparison with a missing value of Arrow is missing"),
]
MISSING = {"nan", "None", "NA"}
CHOSEN = {
    ("Int64", "timedelta64"),
    ("Int64", "decimal"),
    ("object", "Int64"),
    ("object", "Float64"),
    ("period", "float64"),
    ("period", "Int64"),
    ("timedelta64", "Int64"),
    ("string", "timedelta64"),
    ("boolean", "uint8"),
    ("int64[pyarrow]", "bool"),
}


def is_told(left, right, name):
    def matches(given, own):
        return given in ("*", own) or (given == "missing" and own in MISSING)

    return any(
        name in names
        and ((matches(a, left) and matches(b, right)) or (matches(a, right) and matches(b, left)))
        for a, b, names, _ in TOLD
    )


def outcome(function, a, b):
    """The dtype and the values as text, which tells NA, NaN, None and NaT apart; or the error."""
    try:
        result = function(a, b)
        result = result.to_pandas() if isinstance(result, JaxSeries) else result
    except Exception as error:
        return error
    if isinstance(result, JaxFrame):
        result = result.to_pandas()
    if isinstance(result, pd.DataFrame):
        return {label: described(column) for label, column in result.items()}
    return described(result)


def described(column):
    return str(column.dtype), [repr(value) for value in column.tolist()]


def check(left, right, of_left, of_right, operators=OPERATORS):
    def ours(side):
        return JaxSeries(side) if isinstance(side, pd.Series) else side

    for name in operators:
        function = getattr(operator, name)
        expected = outcome(function, of_left, of_right)
        result = outcome(function, ours(of_left), ours(of_right))
        if isinstance(result, Exception):
            errors = TypeError, ValueError, ArithmeticError, NotImplementedError
            # On objects pandas' own errors are ours.
            assert isinstance(result, errors) or type(result) is type(expected), (name, result)
        elif not isinstance(expected, Exception) and not is_told(left, right, name):
            assert result == expected, f"{left} {name} {right}"


def pairs():
    for left in COLUMNS:
        for right in COLUMNS:
            marks = [pytest.mark.runs_always] if (left, right) in CHOSEN else []
            yield pytest.param(left, right, marks=marks)


@pytest.mark.parametrize(("left", "right"), list(pairs()))
def test_columns(left, right):
    check(left, right, COLUMNS[left], COLUMNS[right])


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("scalar", SCALARS)
def test_scalars(column, scalar):
    check(column, scalar, COLUMNS[column], SCALARS[scalar])
    # A string has an operator % of its own.
    operators = [name for name in OPERATORS if (scalar, name) != ("a", "mod")]
    check(scalar, column, SCALARS[scalar], COLUMNS[column], operators)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_one_frame_alone_meets_missing_floats(column, name):
    frames = pd.DataFrame({"a": COLUMNS[column]}), pd.DataFrame({"b": [1, 2]})
    function = getattr(operator, name)
    if name in ("eq", "ne", "lt", "le", "gt", "ge"):
        with pytest.raises(ValueError, match="Can only compare identically-labeled"):
            function(*map(JaxFrame, frames))
        return
    expected, result = outcome(function, *frames), outcome(function, *map(JaxFrame, frames))
    if isinstance(result, Exception):
        assert isinstance(result, (TypeError, NotImplementedError)), result
    elif not isinstance(expected, Exception):
        assert result == expected


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool", "Int64"])
@pytest.mark.parametrize(
    "value", [Decimal("1.5"), Decimal("0.1"), Decimal(1), Decimal("-0.5"), Fraction(1, 3)]
)
def test_numbers_are_compared_with_decimals_exactly(value, dtype, name):
    numbers = pd.Series([0, 1, 1, 0], dtype=dtype)
    if numbers.dtype.kind == "f":
        numbers = pd.Series([0.1, 1.5, 1 / 3, -0.5], dtype=dtype)
    function = getattr(operator, name)
    expected = [function(number, value) for number in numbers.tolist()]
    assert function(JaxSeries(numbers), value).tolist() == expected
    flipped = [function(value, number) for number in numbers.tolist()]
    assert function(value, JaxSeries(numbers)).tolist() == flipped
