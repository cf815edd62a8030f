# SPDX-License-Identifier: Apache-2.0
"""Kernels that move rows: stable selection by flags, gathers by row id."""
