"""A document with unsaved typing whose file the agent changed: neither side may be lost."""

from __future__ import annotations

import os

from acp_editor.review.documents import Documents
from acp_editor.review.editor import Editor
from acp_editor.review.turns import Clash
from acp_editor.review.undo import InThread


async def reconcile(documents: Documents, editor: Editor, thread: InThread, clash: Clash) -> str | None:
    """Brings what the agent did to the file into the document, still unsaved; returns what to tell."""
    path, name = clash.path, os.path.basename(clash.path)
    buffer = editor.buffer(path)
    if buffer is None:
        return None
    merged = await thread(lambda: documents.merge(clash, buffer.text))
    if merged == buffer.text:
        return None
    if merged is None:
        return (
            f"{name} has unsaved changes, and the agent changed the same lines on the disk. "
            "Compare the two before you save: saving writes your text over the agent's."
        )
    if not await editor.edit(path, merged, buffer.version):
        return f"{name} has unsaved changes, and the agent changed it on the disk: compare before you save."
    await thread(lambda: documents.merged_into(path, merged))
    return (
        f"The agent changed {name} on the disk; its changes are in your unsaved text now. "
        "If you are asked when you save it: overwriting loses nothing."
    )
