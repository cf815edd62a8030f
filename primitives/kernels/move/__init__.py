# SPDX-License-Identifier: Apache-2.0
"""Rows moved by position: those that a flag keeps, in their order."""
