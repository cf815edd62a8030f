# SPDX-License-Identifier: Apache-2.0
"""Alignment by label, masks and common dtypes."""
