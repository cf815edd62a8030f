# SPDX-License-Identifier: Apache-2.0
"""Grouping, group reductions, transformations, filtrations and agg."""
