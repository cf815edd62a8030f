# SPDX-License-Identifier: Apache-2.0
"""One device's segments, whose rows lie in no order: order statistics, scans and shifts."""

from .implementations import prepared_for
from .measuring import axis

IMPLEMENTATIONS = axis("jaxframes", "pandas", "polars")


class UnsortedSegments:
    """How long do the ops take that sort 1000 segments first?"""

    params = (
        axis(
            "segment_quantile",
            "segment_nunique",
            "segment_rank",
            "segment_shift",
            "segmented_scan of unsorted ids",
        ),
        axis(2**16, 10_000_000),
        axis("uniform", "zipf"),
        IMPLEMENTATIONS,
    )
    param_names = ("operation", "rows", "distribution", "implementation")

    def setup(self, operation, rows, distribution, implementation):
        self.run = prepared_for(operation, implementation, rows, "float64", distribution)

    def time_operation(self, operation, rows, distribution, implementation):
        self.run()
