# SPDX-License-Identifier: Apache-2.0
"""Kernels on groups of equal words: group ids and sums of groups."""
