# SPDX-License-Identifier: Apache-2.0
"""Expressions of columns, and query and eval."""
