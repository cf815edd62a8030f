# SPDX-License-Identifier: Apache-2.0
"""Files of sinks, which survive a crash of the machine too."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from ..io._replacing import replacing
from ._files import writing


@contextlib.contextmanager
def new_file(path: Any) -> Iterator[str]:
    """A file that replaces `path`, if no error occurs; errors of writing it name `path`."""
    with writing(os.fspath(path)), replacing(path, "stream", is_synced=True) as temporary:
        yield temporary
