# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators: arithmetic, comparison, logic, clip and ufuncs."""
