# SPDX-License-Identifier: Apache-2.0
"""The data model: columns, row index, column labels, layout and row count."""
