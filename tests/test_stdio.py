"""The editor's pipe with real pipes: nothing strays into it, and nobody can hold the process up."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest
from waiting import until

from acp_editor.lsp.stdio import Writer

pytestmark = pytest.mark.anyio

STRAY = """
import asyncio, os, subprocess, sys
from acp_editor.lsp.stdio import open_stdio

async def main():
    reader, writer = open_stdio(asyncio.get_running_loop())
    print("printed")
    os.write(1, b"written")
    subprocess.run(["sh", "-c", "echo of a child; cat"])  # and it must not eat our stdin
    writer.write(b"<" + await reader.readexactly(5) + b">")
    assert await reader.read() == b""
    writer.close()
    await writer.flushed()

asyncio.run(main())
"""


def test_only_what_is_written_to_the_editor_reaches_stdout() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRAY], input=b"hello", capture_output=True, timeout=30, check=True
    )
    assert done.stdout == b"<hello>"
    assert b"printed" in done.stderr
    assert b"written" in done.stderr
    assert b"of a child" in done.stderr


async def test_a_reader_that_is_stuck_holds_up_nobody_and_is_waited_for_on_demand() -> None:
    read, write = os.pipe()
    writer = Writer(write, asyncio.get_running_loop())
    frames = [b"%06d" % number + b"x" * 100_000 for number in range(30)]
    for frame in frames:
        writer.write(frame)  # returns at once, though the pipe is full
    drained = asyncio.ensure_future(writer.drained())
    await asyncio.sleep(0)
    assert not drained.done()
    wanted = b"".join(frames)
    got = await asyncio.to_thread(lambda: b"".join(iter_read(read, len(wanted))))
    assert got == wanted
    await asyncio.wait_for(drained, 10)
    await until(lambda: writer.backlog == 0)
    writer.close()
    await asyncio.wait_for(writer.flushed(), 10)
    os.close(read)
    os.close(write)


async def test_what_is_written_together_goes_out_in_order_and_at_once() -> None:
    read, write = os.pipe()
    writer = Writer(write, asyncio.get_running_loop())
    writer.write(b"1")
    with writer.together():
        writer.write(b"2")
        writer.write(b"3")
        assert writer.backlog >= 2
    with writer.together():
        pass
    writer.write(b"4")
    writer.close()
    await asyncio.wait_for(writer.flushed(), 10)
    await until(lambda: writer.backlog == 0)
    assert os.read(read, 9) == b"1234"
    os.close(read)
    os.close(write)


async def test_a_reader_that_is_gone_is_noticed_and_writing_goes_on_to_nowhere() -> None:
    read, write = os.pipe()
    writer = Writer(write, asyncio.get_running_loop())
    os.close(read)
    writer.write(b"x")
    await asyncio.wait_for(writer.gone(), 10)
    await asyncio.wait_for(writer.drained(), 10)
    writer.write(b"x" * 2_000_000)
    await asyncio.wait_for(writer.drained(), 10)
    await asyncio.wait_for(writer.flushed(), 10)
    os.close(write)


def iter_read(descriptor: int, size: int) -> list[bytes]:
    pieces: list[bytes] = []
    while size:
        pieces.append(os.read(descriptor, min(size, 65536)))
        size -= len(pieces[-1])
    return pieces
