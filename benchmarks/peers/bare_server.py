"""A language server that does nothing, with pygls: what any server made with it costs at the least."""

from __future__ import annotations

from pygls.lsp.server import LanguageServer

LanguageServer("bare", "1").start_io()
