# SPDX-License-Identifier: Apache-2.0
"""Loops over the program of a body: in NumPy, one turn after the other, and for XLA."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from ...shardings._compat import scan_counts
from ._elementwise_rules import Equation, HostArray, HostStep
from ._shards import agreed, differs, each_alone, on_each, row_of

# The trip count of a loop that has none.
_GUESSED_TRIPS = 32


class Body(Protocol):
    """What a loop needs of a `Program`."""

    seconds: float
    is_apart: bool
    is_collective: bool

    def __call__(self, arguments: Sequence[Any]) -> list[HostArray]:
        """Runs the program on the flat arguments."""
        ...

    def over_shards(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the program on all devices of a mesh, one step after the other."""
        ...

    def replay(self, arguments: Sequence[Any], zero: Any) -> list[Any]:
        """The program for XLA."""
        ...


class Loop(NamedTuple):
    """A loop for NumPy and for XLA.

    Attributes:
        step: the loop for NumPy.
        seconds: an estimate of the time by which it is slower than that of compiled code.
        bind: the loop for XLA, with its operands and the zero of `rounded`.
        is_apart: whether `bind` keeps operations apart.
    """

    step: HostStep
    seconds: float
    bind: Callable[[list[Any], Any], list[Any]]
    is_apart: bool


class _Scan(NamedTuple):
    """The loop of a `scan` for NumPy: the body, and the shape and dtype of each stacked result."""

    body: Body
    length: int
    is_reversed: bool
    num_consts: int
    num_carried: int
    stacked: list[tuple[tuple[int, ...], np.dtype]]

    def __call__(self, *arrays: HostArray) -> list[HostArray]:
        num_carried = self.num_carried
        consts, rest = arrays[: self.num_consts], arrays[self.num_consts :]
        carried, rows = list(rest[:num_carried]), rest[num_carried:]
        results = [np.empty(shape, dtype) for shape, dtype in self.stacked]
        for trip in range(self.length)[:: -1 if self.is_reversed else 1]:
            values = self.body([*consts, *carried, *(row[trip] for row in rows)])
            carried = values[:num_carried]
            for result, value in zip(results, values[num_carried:], strict=True):
                result[trip] = value
        return [*carried, *results]

    @property
    def is_collective(self) -> bool:
        """Whether all devices must take part."""
        return self.body.is_collective

    def over_shards(self, *arrays: Any) -> list[Any]:
        """The loop on all devices of a mesh, turn by turn."""
        num_carried = self.num_carried
        consts, rest = arrays[: self.num_consts], arrays[self.num_consts :]
        carried, rows = list(rest[:num_carried]), rest[num_carried:]
        turns: list[list[Any]] = [[None] * self.length for _ in self.stacked]
        for trip in range(self.length)[:: -1 if self.is_reversed else 1]:
            of_turn = [row_of(row, trip) for row in rows]
            values = self.body.over_shards([*consts, *carried, *of_turn])
            carried = values[:num_carried]
            for turn, value in zip(turns, values[num_carried:], strict=True):
                turn[trip] = value
        return [*carried, *map(self._joined, turns, self.stacked)]

    def _joined(self, turns: list[Any], kind: tuple[tuple[int, ...], np.dtype]) -> Any:
        shape, dtype = kind
        if not turns:
            return np.empty(shape, dtype)
        return on_each(lambda *rows: np.stack(rows), turns, [dtype])[0]


class _While(NamedTuple):
    """The loop of a `while` for NumPy."""

    condition: Body
    body: Body
    num_condition: int
    num_body: int

    def __call__(self, *arrays: HostArray) -> list[HostArray]:
        of_condition, rest = arrays[: self.num_condition], arrays[self.num_condition :]
        of_body, carried = rest[: self.num_body], list(rest[self.num_body :])
        while self.condition([*of_condition, *carried])[0]:
            carried = self.body([*of_body, *carried])
        return carried

    @property
    def is_collective(self) -> bool:
        """Whether all devices must take part."""
        return self.condition.is_collective or self.body.is_collective

    def over_shards(self, *arrays: Any) -> list[Any]:
        """The loop on all devices of a mesh, turn by turn while all go on."""
        of_condition, rest = arrays[: self.num_condition], arrays[self.num_condition :]
        of_body, carried = rest[: self.num_body], list(rest[self.num_body :])
        while True:
            goes_on = self.condition.over_shards([*of_condition, *carried])[0]
            if differs(goes_on) and not self.is_collective:
                return each_alone(self, [*of_condition, *of_body, *carried])
            if not agreed(goes_on, "the turns of a loop"):
                return carried
            carried = self.body.over_shards([*of_body, *carried])


def scan_loop(equation: Equation, body_of: Callable[[ClosedJaxpr], Body]) -> Loop:
    """The loop of a `scan`; `body_of` makes a program of its body."""
    params = equation.params
    length, is_reversed = params["length"], params["reverse"]
    num_consts, num_carried = scan_counts(params)
    body = body_of(params["jaxpr"])
    avals = [v.aval for v in equation.outvars[num_carried:]]
    stacked = [(aval.shape, aval.dtype) for aval in avals]
    step = _Scan(body, length, is_reversed, num_consts, num_carried, stacked)

    def bind(operands: list[Any], zero: Any) -> list[Any]:
        consts, rest = operands[:num_consts], operands[num_consts:]

        def turn(carried: list[Any], rows: list[Any]) -> tuple[list[Any], list[Any]]:
            values = body.replay([*consts, *carried, *rows], zero)
            return values[:num_carried], values[num_carried:]

        carried, results = jax.lax.scan(
            turn, rest[:num_carried], rest[num_carried:], length, is_reversed, params["unroll"]
        )
        return [*carried, *results]

    return Loop(step, length * (body.seconds + 10e-6), bind, body.is_apart)


def while_loop(equation: Equation, body_of: Callable[[ClosedJaxpr], Body]) -> Loop:
    """The loop of a `while`; `body_of` makes programs of its condition and its body."""
    params = equation.params
    condition, body = (body_of(params[name]) for name in ("cond_jaxpr", "body_jaxpr"))
    num_condition, num_body = params["cond_nconsts"], params["body_nconsts"]

    step = _While(condition, body, num_condition, num_body)

    def bind(operands: list[Any], zero: Any) -> list[Any]:
        of_condition, rest = operands[:num_condition], operands[num_condition:]
        of_body, carried = rest[:num_body], rest[num_body:]
        return jax.lax.while_loop(
            lambda carried: condition.replay([*of_condition, *carried], zero)[0],
            lambda carried: body.replay([*of_body, *carried], zero),
            carried,
        )

    is_apart = condition.is_apart or body.is_apart
    return Loop(step, _GUESSED_TRIPS * (condition.seconds + body.seconds), bind, is_apart)
