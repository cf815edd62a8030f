# SPDX-License-Identifier: Apache-2.0
"""When programs contain the Pallas kernels, and how columns become lines."""

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes import shardings
from jaxframes.primitives import local
from jaxframes.primitives.contract._platform import traced_for
from jaxframes.primitives.kernels.base import _pallas


@pytest.fixture(autouse=True)
def no_switch(monkeypatch):
    monkeypatch.delenv("JAXFRAMES_KERNELS", raising=False)


@pytest.mark.parametrize("has_libtpu", [False, True])
def test_kernels_are_traced_where_programs_for_tpu_are_compiled(has_libtpu, monkeypatch):
    monkeypatch.setattr(_pallas, "_has_libtpu", lambda: has_libtpu)
    assert _pallas.has_pallas_kernels() == has_libtpu
    assert _pallas.on_tpu(jnp.sin) == ({"tpu": jnp.sin} if has_libtpu else {})
    with traced_for("tpu"):
        assert _pallas.has_pallas_kernels()


def test_the_switch_disables_the_kernels(monkeypatch):
    # Of other lengths than those of other tests, which JAX may have traced already.
    for num_rows, value in ((2051, "native"), (2053, "xla")):
        monkeypatch.setenv("JAXFRAMES_KERNELS", value)
        rows = jax.ShapeDtypeStruct((num_rows,), np.float32)
        text = interpreted.lowered_with_kernels(local.inclusive_scan, rows)
        assert ("tpu_custom_call" in text) == (value == "native")


@pytest.mark.parametrize("num_rows", [1, 1023, 1024, 1025])
def test_lines_have_whole_registers(num_rows):
    column = jnp.arange(num_rows)
    lines = _pallas.as_lines(column)
    assert lines.shape[0] % _pallas.SUBLANES == 0
    assert lines.shape[1] == _pallas.LANES
    oracles.assert_same_bits(_pallas.of_lines(lines, num_rows), column)
    assert lines.size - num_rows < _pallas.REGISTER_ROWS


def test_kernels_take_constants_inside_shard_map():
    mesh = shardings.make_mesh(2)
    by_row = jax.sharding.PartitionSpec(mesh.axis_names)
    ids = np.zeros(1024, np.int32)

    def extremes(rows):
        # All that the kernel reads is the same on both devices.
        return rows + local.segment_max(np.arange(1024, dtype=np.int32), ids, 1)

    on_mesh = jax.shard_map(extremes, mesh=mesh, in_specs=by_row, out_specs=by_row)
    rows = jax.ShapeDtypeStruct((2,), np.int32)
    assert "tpu_custom_call" in interpreted.lowered_with_kernels(on_mesh, rows)
