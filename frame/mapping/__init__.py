# SPDX-License-Identifier: Apache-2.0
"""Values transformed: where, fillna, map, replace, isin, apply, astype, cut and get_dummies."""
