# SPDX-License-Identifier: Apache-2.0
"""Rows grouped by equal words: group ids, and sums of groups."""
