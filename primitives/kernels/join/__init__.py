# SPDX-License-Identifier: Apache-2.0
"""Kernels that match the rows of two sides by equal words."""
