# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline: their parameters, stacked."""

import re

import numpy as np
import pytest
from jaxframes.primitives import collective


def test_stages_are_stacked():
    stacked = collective.stack_stages(
        [{"a": np.arange(3), "b": [1.0]}, {"a": np.ones(3, int), "b": [2.0]}]
    )
    np.testing.assert_array_equal(stacked["a"], [[0, 1, 2], [1, 1, 1]])
    np.testing.assert_array_equal(stacked["b"][0], [1.0, 2.0])


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ([], "stack_stages: trees must hold one tree for each stage, got none."),
        (
            [{"w": np.ones(2)}, {"w": np.ones(3)}],
            "stack_stages: every stage must have the shapes and dtypes of stage 0, got float64[3] "
            "for stage 1 where stage 0 has float64[2], at ['w']. Give each stage the same layers.",
        ),
        (
            [{"w": np.ones(2)}, {"v": np.ones(2)}],
            "stack_stages: every stage must have the structure of stage 0, PyTreeDef({'w': *}), "
            "got PyTreeDef({'v': *}) for stage 1. Give each stage the same layers, and parameters "
            "that only some stages use to all of them.",
        ),
    ],
)
def test_unequal_stages_raise(trees, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        collective.stack_stages(trees)
