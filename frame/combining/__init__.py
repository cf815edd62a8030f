# SPDX-License-Identifier: Apache-2.0
"""merge, join, merge_asof and concat."""
