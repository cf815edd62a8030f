# SPDX-License-Identifier: Apache-2.0
"""One process of `launch`: connects it to the others, then runs the script."""

import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from ._initialize import initialize


def main(start_seconds: int, heartbeat_seconds: int, script: str, arguments: list[str]) -> None:
    """Runs a script as `__main__`, after `initialize`."""
    try:
        initialize(
            initialization_timeout_seconds=start_seconds,
            heartbeat_timeout_seconds=heartbeat_seconds,
        )
    except RuntimeError as error:
        print(error, file=sys.stderr)
        _leave(1)
    sys.argv = [script, *arguments]
    # As `python script.py` has it.
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as exit_:
        if exit_.code not in (None, 0):
            if not isinstance(exit_.code, int):
                print(exit_.code, file=sys.stderr)
            _leave(exit_.code if isinstance(exit_.code, int) else 1)
    except BaseException as error:
        # Without the frames of this file and of runpy.
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != script:
            frames = frames.tb_next
        traceback.print_exception(error.with_traceback(frames or error.__traceback__))
        _leave(1)


def _leave(exit_code: int) -> NoReturn:
    """Ends at once: an orderly exit of JAX would wait for the other processes."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code & 0xFF or 1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
