# SPDX-License-Identifier: Apache-2.0
"""sort_values, rank, nlargest, duplicated and value_counts."""
