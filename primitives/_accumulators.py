# SPDX-License-Identifier: Apache-2.0
"""Accumulators of reductions for the frame: their operators, and results from merged sums."""

from .local.parts import (
    ACCUMULATORS,
    COMBINE,
    PARTS,
    correlation,
    identity_of_reduction,
    kurtosis,
    moved_squares,
    positive,
    powers_of,
    quotient,
    root_of,
    skewness,
)

__all__ = [
    "ACCUMULATORS",
    "COMBINE",
    "PARTS",
    "correlation",
    "identity_of_reduction",
    "kurtosis",
    "moved_squares",
    "positive",
    "powers_of",
    "quotient",
    "root_of",
    "skewness",
]
