# SPDX-License-Identifier: Apache-2.0
"""Sorted words: radix sort, merge, top k, and binary search."""
