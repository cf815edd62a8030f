# SPDX-License-Identifier: Apache-2.0
"""Kernels on sorted words: radix sort, merge, top k, and binary search."""
