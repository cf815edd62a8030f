# SPDX-License-Identifier: Apache-2.0
"""A batch that is sharded over devices stays divided: its rows are never sent."""

import re

import jax
import numpy as np
import op_cases
import oracles
import pytest
from compiled_program import CompiledProgram
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jaxframes.primitives import local
from quick_compilation import UNOPTIMISED

NUM_DEVICES = 2
# A loop of a batch ends for all of it at once: its devices reduce one flag in each round.
ENDS_TOGETHER = {"connected_components"}
CASES = [case for case in op_cases.CASES if case.is_at("local")]


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit], ids=str)
@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_no_call_of_a_batch_leaves_its_device(number, axis_type):
    case = CASES[number]
    arrays = case.draw_batch(2 * NUM_DEVICES)
    run = jax.jit(jax.vmap(case.at("local")), compiler_options=UNOPTIMISED)
    mesh = jax.make_mesh((NUM_DEVICES,), ("batch",), axis_types=(axis_type,))
    with jax.set_mesh(mesh):
        given = jax.device_put(arrays, NamedSharding(mesh, PartitionSpec("batch")))
        compiled = run.lower(*given).compile()
    text = compiled.as_text()
    if case.name in ENDS_TOGETHER:
        text, num_flags = re.subn(r"= pred\[\](\S*) all-reduce\(", r"= pred[]\1 reduced(", text)
        assert num_flags <= 1
    program = CompiledProgram(text)
    for collective in ("all-gather", "all-to-all", "all-reduce", "collective-permute"):
        assert program.most_executed(collective) == 0, collective
    # Results that do not depend on the arrays may be everywhere.
    results = jax.tree.leaves(compiled.output_shardings)
    assert any(result.spec[:1] == ("batch",) for result in results)
    # The order of a sum may depend on the shapes of the program.
    if not case.tolerance:
        oracles.assert_same_bits(compiled(*given), run(*arrays))


def test_two_batches_stay_divided_in_a_derivative():
    mesh = jax.make_mesh((2, 2), ("outer", "inner"), axis_types=(AxisType.Auto,) * 2)
    keys = np.random.default_rng(0).permutation(np.arange(96.0)).reshape(4, 2, 12)
    ids = np.arange(12) % 3
    weights = np.arange(12.0)

    def loss(keys):
        ordered = local.segmented_sort(keys, ids, num_segments=3)
        return (ordered * weights).sum()

    of_all = jax.vmap(jax.vmap(jax.grad(loss), spmd_axis_name="inner"), spmd_axis_name="outer")
    given = jax.device_put(keys, NamedSharding(mesh, PartitionSpec("outer", "inner")))
    compiled = jax.jit(of_all).lower(given).compile()
    program = CompiledProgram(compiled.as_text())
    for collective in ("all-gather", "all-to-all", "all-reduce", "collective-permute"):
        assert program.most_executed(collective) == 0, collective
    # A key gets the weight of the position that it is sorted to.
    order = np.stack([np.lexsort((key, ids)) for key in keys.reshape(-1, 12)])
    expected = np.take_along_axis(np.broadcast_to(weights, order.shape), order.argsort(), 1)
    np.testing.assert_array_equal(np.asarray(compiled(given)).reshape(-1, 12), expected)
