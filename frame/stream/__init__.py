# SPDX-License-Identifier: Apache-2.0
"""Plans over data larger than memory: batches, partial states, spills and sinks."""
