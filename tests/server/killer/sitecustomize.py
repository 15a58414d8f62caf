"""Kills the server before the n-th thing that it does to files, where the link $KILLER is and leads to n.

Python imports this by itself when it starts, where this folder is in PYTHONPATH.
"""

import os
import signal
import sys

_CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.symlink"})
_WRITING = os.O_WRONLY | os.O_RDWR
_done = 0


def _hook(event: str, args: tuple[object, ...]) -> None:
    global _done
    if event in _CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & _WRITING):
        path = os.fspath(args[0]) if isinstance(args[0], str | os.PathLike) else ""
        killer = os.environ["KILLER"]
        if str(path).startswith(os.path.dirname(killer)) and os.path.lexists(killer):
            _done += 1
            if _done >= int(os.path.basename(os.readlink(killer))):
                os.kill(os.getpid(), signal.SIGKILL)


if "KILLER" in os.environ and sys.orig_argv[-1:] == ["acp_editor"]:
    sys.addaudithook(_hook)
