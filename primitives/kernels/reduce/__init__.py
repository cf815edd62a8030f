# SPDX-License-Identifier: Apache-2.0
"""Columns reduced: sums, counts of segments and bins, the range of integers."""
