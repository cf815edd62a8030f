# SPDX-License-Identifier: Apache-2.0
""".str, .dt, .cat and to_datetime."""
