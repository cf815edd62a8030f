# SPDX-License-Identifier: Apache-2.0
"""One call of each floor of an installed jaxframes, against NumPy and pandas.

Usage: python smoke.py native|xla

The argument names the kernels that the installation must have.
"""

import importlib.metadata
import sys

import jax
import numpy as np
import pandas as pd

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 2)

import jaxframes  # noqa: E402
from jaxframes import primitives, shardings  # noqa: E402
from jaxframes.frame import JaxFrame  # noqa: E402


def main(kernels: str) -> None:
    location = primitives.__file__ or ""
    assert location.startswith(sys.prefix), f"{location} is not in {sys.prefix}"
    assert primitives.backend().cpu == kernels, primitives.backend()

    rng = np.random.default_rng(0)
    keys = rng.integers(0, 100, 1001, np.int32)
    values = rng.integers(0, 1000, 1001, np.int32)
    order = np.argsort(keys, kind="stable")
    for mesh in (None, shardings.make_mesh(2)):
        sorted_keys, sorted_values = primitives.radix_sort(keys, mesh, values=values)
        np.testing.assert_array_equal(sorted_keys, keys[order])
        np.testing.assert_array_equal(sorted_values, values[order])

    rows = pd.DataFrame({"key": keys, "value": values})
    sums = JaxFrame(rows).groupby("key")["value"].sum().to_pandas()
    pd.testing.assert_series_equal(sums, rows.groupby("key")["value"].sum(), check_dtype=False)

    version = importlib.metadata.version("jaxframes")
    assert jaxframes.__version__ == version
    assert jaxframes.JaxFrame is JaxFrame
    print(f"jaxframes {version}, {kernels} kernels, jax {jax.__version__}: sound")


if __name__ == "__main__":
    main(sys.argv[1])
