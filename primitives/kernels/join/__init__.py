# SPDX-License-Identifier: Apache-2.0
"""Rows of two sides matched by equal words."""
