# SPDX-License-Identifier: Apache-2.0
"""Accumulators of reductions for the frame: their operators, and results from merged sums."""

from .local.parts import (
    COMBINE,
    correlation,
    identity_of_reduction,
    kurtosis,
    positive,
    powers_of,
    quotient,
    root_of,
    skewness,
)

__all__ = [
    "COMBINE",
    "correlation",
    "identity_of_reduction",
    "kurtosis",
    "positive",
    "powers_of",
    "quotient",
    "root_of",
    "skewness",
]
