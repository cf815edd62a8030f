# SPDX-License-Identifier: Apache-2.0
"""Kernels that reduce columns: sums, counts of segments and bins, ranges of integers."""
