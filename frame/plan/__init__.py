# SPDX-License-Identifier: Apache-2.0
"""Expressions of columns, query and eval, and plans."""
