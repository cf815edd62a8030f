# SPDX-License-Identifier: Apache-2.0
"""The steps of random pipelines, drawn for the columns that pandas has at some point.

Each choice is a call of `pick`, which is random.choice or a draw of Hypothesis. The first option is
the simplest one.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

Pick = Callable[[Sequence[Any]], Any]


def _kind(dtype: Any) -> str:
    if isinstance(dtype, pd.CategoricalDtype):
        return "category"
    if isinstance(dtype, pd.StringDtype):
        return "string"
    if isinstance(dtype, pd.PeriodDtype):
        return "month"
    if isinstance(dtype, pd.ArrowDtype):
        return {"date32[day][pyarrow]": "day", "time64[us][pyarrow]": "clock"}.get(
            str(dtype), "object"
        )
    return {"i": "integer", "u": "integer", "f": "float", "b": "bool", "M": "moment",
            "m": "span"}.get(dtype.kind, "object")  # fmt: skip


_INTEGERS = ["0", "1", "-1", "3", "-3", "100", "200", "255", "1000", "2**53 + 1", "-2**63"]
_FLOATS = ["0.0", "-0.0", "1.5", "-2.25", "float('nan')", "float('inf')"]
_NUMBERS = [*_INTEGERS, *_FLOATS]
_TEXTS = ["'a'", "'b'", "'é'", "''", "'no'"]
_CONSTANTS = {
    "integer": _NUMBERS,
    "float": _NUMBERS,
    "bool": ["True", "False"],
    "string": _TEXTS,
    "bytes": ["b'a'", "b'b'", "b''"],
    "category": ["'v'", "'é'", "'no'"],
    "moment": ["'2024-02-29'", "pd.Timestamp('1970-01-01')", "'9999-12-31'", "pd.Timestamp(2**62)",
               "pd.Timestamp('2024-10-27 00:30', tz='UTC')"],
    "span": ["pd.Timedelta(0)", "pd.Timedelta(1, 'ns')", "pd.Timedelta(1, 's')",
             "pd.Timedelta(-2**62)"],
    "day": ["pd.Timestamp('2024-02-29').date()", "pd.Timestamp('1970-01-01').date()"],
    "clock": ["pd.Timestamp('2024-02-29 12:30:01').time()", "pd.Timestamp(0).time()"],
    "month": ["pd.Period('2024-03', 'M')", "pd.Period('1970-01', 'M')"],
}  # fmt: skip
_COMPARED = ["<", "<=", ">", ">=", "==", "!="]
_REDUCTIONS = ["sum", "min", "max", "count", "mean", "first", "last", "nunique", "prod", "std"]


class Grammar:
    """Draws steps for the columns of a frame of pandas."""

    def __init__(self, pick: Pick, f: pd.DataFrame, g: pd.DataFrame):
        self.pick, self.g = pick, g
        unique = f.columns[~f.columns.duplicated(keep=False)]
        self.kinds = {label: _kind(f[label].dtype) for label in unique if isinstance(label, str)}
        for label in {"y", "yh"} & set(self.kinds):
            self.kinds[label] = self.kinds[label].replace("object", "bytes")
        self.labels = list(self.kinds)

    def of(self, *kinds: str) -> list[str]:
        return [label for label, kind in self.kinds.items() if kind in kinds]

    @property
    def numbers(self) -> list[str]:
        return self.of("integer", "float")

    def one_of(self, *makers: Callable[[], str]) -> str:
        return self.pick(makers)()

    def some(self, labels: Sequence[str], most: int = 3) -> list[str]:
        """Different labels, as a list for the text."""
        count = self.pick(range(1, most + 1))
        return list(dict.fromkeys(self.pick(labels) for _ in range(count)))

    # Steps.

    def step(self) -> str:
        if not self.labels:
            return "f.head(3)"
        return self.one_of(
            self.filter, self.assign, self.assign, self.rows, self.assign, self.join, self.group,
            self.change, self.join, self.result,
        )  # fmt: skip

    def filter(self) -> str:
        return f"f[{self.condition()}]"

    def assign(self) -> str:
        targets = self.some(["z0", "z1", "z2", "z3", *self.labels[1:3]], 4)
        return f"f.assign({', '.join(f'{label}={self.expression()}' for label in targets)})"

    def rows(self) -> str:
        """Chooses or sorts rows."""
        pick, listed = self.pick, self.some(self.labels)
        if self.numbers and pick([False, True, False]):
            method = pick(["nlargest", "nsmallest"])
            keys = self.some(self.numbers, 2)
            return f"f.{method}({pick([1, 2, 3])}, {keys}, keep='{pick(['first', 'last'])}')"
        return pick(
            [
                f"f.{pick(['head', 'tail'])}({pick([1, 0, 2, 3, -1])})",
                f"f.sort_values({listed}, ascending={pick([True, False])}, kind='stable', "
                f"na_position='{pick(['last', 'first'])}')",
                f"f.drop_duplicates({listed}, keep='{pick(['first', 'last'])}')",
                f"f.dropna(subset={listed})",
            ]
        )

    def join(self) -> str:
        pick = self.pick
        other = pick(["g", "g.head(1)", "g[g['k'] > 0]"])
        shared = [label for label in self.labels if label in self.g.columns]
        if not shared or pick([False, False, False, True]):
            return pick([f"concat([f, {other}], ignore_index=True)", "concat([f.head(2), f])"])
        how = pick(["left", "inner", "outer", "right"])
        return f"merge(f, {other}, on='{pick(shared)}', how='{how}', suffixes=('', '_g'))"

    def group(self) -> str:
        pick, keys = self.pick, self.some(self.labels, 2)
        groups = (
            f"f.groupby({keys}{pick(['', ', as_index=False', ', sort=False', ', dropna=False'])})"
        )
        valued, other = (
            self.of("integer", "float", "bool"),
            self.of("string", "bytes", "moment", "span", "day", "clock", "month"),
        )
        if other and (not valued or pick([False, False, True])):
            names = ["min", "max", "count", "first", "last", "nunique"]
            return f"{groups}[{self.some(other)}].{pick(names)}()"
        if not valued or pick([False, False, False, True]):
            return f"{groups}.size()"
        names = _REDUCTIONS
        if pick([False, True]):
            return f"{groups}[{self.some(valued)}].{pick(names)}()"
        return (
            f"{groups}.agg(z0=('{pick(valued)}', '{pick(names)}'), "
            f"z1=('{pick(valued)}', '{pick(names)}'))"
        )

    def change(self) -> str:
        pick, label = self.pick, self.pick(self.numbers or self.labels)
        return pick(
            [
                f"f[{self.some(self.labels, 5)}]",
                "f.reset_index(drop=True)",
                f"f.rename(columns={{'{pick(self.labels)}': 'r{len(self.labels)}'}})",
                f"f.fillna({{'{label}': {pick(_NUMBERS)}}})",
                f"f.astype({{'{label}': '{pick(['float64', 'float32', 'int64'])}'}})",
            ]
        )

    def result(self) -> str:
        """A result that is no frame."""
        pick, label = self.pick, self.pick(self.labels)
        if not self.numbers or pick([True, False]):
            return f"f['{label}'].{pick(['value_counts', 'unique', 'nunique', 'count'])}()"
        names = ["sum", "min", "max", "count", "mean", "prod", "std", "var", "median", "any", "all"]
        if pick([True, False]):
            return f"f[{self.some(self.numbers)}].{pick(names)}()"
        return f"f['{pick(self.numbers)}'].{pick(names)}()"

    # Expressions.

    def column(self, *kinds: str) -> str:
        return f"f['{self.pick(self.of(*kinds) if kinds else self.labels)}']"

    def condition(self) -> str:
        pick = self.pick
        if "k" in self.kinds and pick([True, False, False]):
            return pick(["f['k'] > 1", "f['k'] < 2"])
        label = pick(self.labels)
        x, kind = f"f['{label}']", self.kinds[label]
        if kind == "object" or pick([False, False, False, False, True]):
            return f"{x}.{pick(['isna', 'notna'])}()"
        constants = _CONSTANTS[kind]
        if kind == "bool":
            other = self.column("bool")
            return pick([x, f"~{x}", f"({x} & {other})", f"({x} | {other})"])
        form = pick(["compare", "isin", "between", "columns"])
        if form == "between" and kind in ("integer", "float"):
            return f"{x}.between({pick(constants)}, {pick(constants)})"
        if form == "isin":
            return f"{x}.isin([{pick(constants)}, {pick([*constants, 'None'])}])"
        others = self.numbers if kind in ("integer", "float") else self.of(kind)
        operator = pick(["==", "!="] if kind in ("string", "category") else _COMPARED)
        other = f"f['{pick(others)}']" if form == "columns" else pick(constants)
        return f"({x} {operator} {other})"

    def expression(self) -> str:
        pick = self.pick
        kind = pick([kind for kind in self.kinds.values() if kind != "object"] or ["object"])
        if kind == "object" or pick([False, False, False, True]):
            return self.condition()
        if kind in ("integer", "float") and pick([True, False]):
            return self.arithmetic()
        x, constants = self.column(kind), _CONSTANTS[kind]
        choice, one, two = pick(["where", "mask"]), pick(constants), pick(constants)
        same = self.numbers if kind in ("integer", "float") else self.of(kind)
        # Two columns of categories have the same ones, or pandas raises if a row is replaced.
        other = pick([one, x if kind == "category" else f"f['{pick(same)}']"])
        third = one if kind in ("moment", "span") else pick(constants)
        forms = [
            f"{x}.{choice}({self.condition()})",
            f"{x}.{choice}({self.condition()}, {other})",
            f"{x}.fillna({one})",
            f"{x}.replace({one}, {two})",
            f"{x}.map({{{one}: {third}}})",
            f"{x}.{pick(['shift(1)', 'shift(-1)', 'ffill()', 'bfill()'])}",
        ]
        if kind in ("integer", "float", "bool"):
            dtypes = ["'float64'", "'float32'", "'int64'", "'int8'", "'uint8'", "bool"]
            forms.append(f"{x}.astype({pick(dtypes)})")
        if kind == "string":
            forms.append(f"{x}.str.upper()")
        if kind in ("moment", "span"):
            forms += [f"({x} - {self.column(kind)})", f"({x} - {one})"]
        if kind == "moment" and self.of("span"):
            forms.append(f"({x} + {self.column('span')})")
        return pick(forms)

    def arithmetic(self) -> str:
        pick = self.pick
        x, y = self.column("integer", "float"), self.column("integer", "float")
        number, operator = pick(_NUMBERS), pick(["+", "-", "*", "/", "//", "%"])
        return pick(
            [
                f"({x} {operator} {number})",
                f"({x} {operator} {y})",
                f"(-{x})",
                f"({number} {operator} {x})",
                f"{x}.abs()",
                f"{x}.round()",
                f"{x}.clip({number}, {pick(['None', *_NUMBERS])})",
                f"{x}.{pick(['cumsum', 'cummax', 'cummin', 'diff', 'rank'])}()",
                f"({x} - {y}.{pick(['min', 'max', 'sum', 'count'])}())",
                f"f.groupby('{pick(self.labels)}')[{x[2:-1]}].transform('{pick(['sum', 'max'])}')",
                f"f.groupby('{pick(self.labels)}')[{x[2:-1]}]."
                f"{pick(['cumsum', 'shift', 'cummax', 'diff', 'rank'])}()",
                f"{x}.rolling({pick([2, 1, 3])}, min_periods=1)."
                f"{pick(['sum', 'max', 'min', 'count', 'mean'])}()",
                f"{x}.expanding().{pick(['sum', 'max', 'min', 'count'])}()",
            ]
        )
