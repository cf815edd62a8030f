# SPDX-License-Identifier: Apache-2.0
"""Reductions along either axis, from sum to quantile, agg, describe and corr."""
