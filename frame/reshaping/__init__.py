# SPDX-License-Identifier: Apache-2.0
"""Reshaping: columns to rows and rows to columns."""
