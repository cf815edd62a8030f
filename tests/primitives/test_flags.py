# SPDX-License-Identifier: Apache-2.0
"""Flags of all ops on all levels: bools that are known when the program is traced."""

import inspect

import jax
import numpy as np
import op_cases
import pytest
from on_shards import mesh_of, on_shards

LEVELS = {
    "local": ({}, lambda call: call),
    "collective": ({"axis_name": "rows"}, lambda call: on_shards(call, 2)),
    "global": ({"mesh": mesh_of(2)}, lambda call: call),
}


def flags_of(case, level):
    function = getattr(op_cases.PACKAGES[level], case.name)
    parameters = inspect.signature(function).parameters.values()
    return function, [one.name for one in parameters if isinstance(one.default, bool)]


def cases_with_flags(level):
    cases = {case.name: case for case in op_cases.CASES if case.is_at(level)}
    return [case for case in cases.values() if flags_of(case, level)[1]]


@pytest.mark.parametrize(
    ("level", "case"),
    [(level, case) for level in LEVELS for case in cases_with_flags(level)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_flags_must_be_known_bools(level, case):
    function, flags = flags_of(case, level)
    at, placed = LEVELS[level]
    at = {
        name: setting
        for name, setting in at.items()
        if name in inspect.signature(function).parameters
    }
    rows = case.draw(0)
    if level == "collective":
        rows = case.draw_batch(2)

    for flag in flags:

        def call_with(value, flag=flag):
            return placed(
                lambda *rows: case.call(
                    lambda *args, **options: function(*args, **{**options, flag: value}),
                    *rows,
                    **at,
                )
            )

        with pytest.raises(TypeError, match=rf"^{case.name}: {flag} must be a bool.*, got str\."):
            call_with("no")(*rows)
        message = rf"^{case.name}: {flag} must be a Python bool, .*, got the traced bool\[\]\."
        with pytest.raises(TypeError, match=message):
            jax.eval_shape(lambda value: call_with(value)(*rows), np.bool_(True))
