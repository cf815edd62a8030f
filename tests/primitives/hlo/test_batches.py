# SPDX-License-Identifier: Apache-2.0
"""Batches that are sharded over devices stay divided; sharded rows are sent as the page says."""

import re
from pathlib import Path

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
PAGE = Path(__file__).parents[3] / "docs/reference/batches_and_shards.md"
# Ops that XLA divides where their rows are sharded. The others gather rows.
DIVIDED = {"hash_rows", "digit_histogram", "concatenate", "shuffle"}
# A loop of a batch ends for all of it at once: its devices reduce one flag in each round.
ENDS_TOGETHER = {"connected_components"}
COLLECTIVES = ("all-gather", "all-to-all", "all-reduce", "collective-permute")
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
    for collective in COLLECTIVES:
        assert program.most_executed(collective) == 0, collective
    # Results that do not depend on the arrays may be everywhere.
    results = jax.tree.leaves(compiled.output_shardings)
    assert any(result.spec[:1] == ("batch",) for result in results)
    # The order of a sum may depend on the shapes of the program.
    if not case.tolerance:
        oracles.assert_same_bits(compiled(*given), run(*arrays))


def stated_for_sharded_rows():
    """What the page says of a local call on sharded rows, by op."""
    rows = re.findall(r"^\| (`.*?) \| .*? \| (.*?) \| .* \|$", PAGE.read_text(), re.MULTILINE)
    return {op: sent for ops, sent in rows for op in re.findall(r"`(\w+)`", ops)}


def test_the_page_says_which_ops_gather_sharded_rows():
    stated = stated_for_sharded_rows()
    names = {case.name for case in CASES}
    assert {name for name in names if "gathers" not in stated[name]} == DIVIDED


@pytest.mark.parametrize("name", sorted(DIVIDED))
def test_sharded_rows_of_these_ops_are_not_gathered(name):
    (case, *_) = (case for case in CASES if case.name == name)
    arrays = case.draw(0)
    run = jax.jit(case.at("local"), compiler_options=UNOPTIMISED)
    mesh = jax.make_mesh((NUM_DEVICES,), ("rows",), axis_types=(AxisType.Auto,))
    given = jax.device_put(arrays, NamedSharding(mesh, PartitionSpec("rows")))
    compiled = run.lower(*given).compile()
    program = CompiledProgram(compiled.as_text())
    sent = {collective for collective in COLLECTIVES if program.results(collective)}
    assert "all-gather" not in sent
    assert bool(sent) == (stated_for_sharded_rows()[name] != "sends nothing")
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
    for collective in COLLECTIVES:
        assert program.most_executed(collective) == 0, collective
    # A key gets the weight of the position that it is sorted to.
    order = np.stack([np.lexsort((key, ids)) for key in keys.reshape(-1, 12)])
    expected = np.take_along_axis(np.broadcast_to(weights, order.shape), order.argsort(), 1)
    np.testing.assert_array_equal(np.asarray(compiled(given)).reshape(-1, 12), expected)
