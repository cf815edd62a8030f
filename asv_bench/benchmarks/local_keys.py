# SPDX-License-Identifier: Apache-2.0
"""Other ops on keys on one device."""

from .implementations import prepared_for
from .key_implementations import KEY_IMPLEMENTATIONS
from .measuring import axis


class KeyOperations:
    """How long does each op take, compared with other libraries?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int64", "float64"),
        axis("million_values", "zipf"),
        list(KEY_IMPLEMENTATIONS),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "distribution", "operation", "implementation")

    def setup(self, rows, dtype, distribution, operation, implementation):
        if implementation not in KEY_IMPLEMENTATIONS[operation]:
            raise NotImplementedError
        self.run = prepared_for(operation, implementation, rows, dtype, distribution)

    def time_operation(self, rows, dtype, distribution, operation, implementation):
        self.run()
