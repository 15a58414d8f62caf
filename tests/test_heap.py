"""What was freed goes back to the system, in a real process; nobody else's memory is in the way there."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCATTERED = """
import os, random, sys
import anyio
from acp_editor.processes.heap import Heap

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

async def main():
    things = [bytes(random.randrange(20_000, 60_000)) for _ in range(4000)]
    full = resident()
    del things[::2]  # holes, each between two things that live
    holes = resident()
    heap = Heap(rest=0)
    async with anyio.create_task_group() as group:
        group.start_soon(heap.run)
        await anyio.wait_all_tasks_blocked()
        print(full - resident() > 40)
        heap.freed()
        with anyio.fail_after(60):
            while full - resident() < 40:
                await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    print(len(things), round(full), round(holes))

anyio.run(main)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is told to")
def test_what_was_freed_between_other_things_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept_until_asked, count = done.stdout.split()[:2]
    assert (kept_until_asked, count) == ("False", "2000")
