"""The TypeScript types and the reference tables say what the message classes say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from acp_editor.lsp import messages

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "generate_types.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_types", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate_types"] = module
    spec.loader.exec_module(module)
    return module


def test_generated_files_are_current(generator: ModuleType) -> None:
    stale = [
        str(path)
        for path, text in generator.outputs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run python scripts/generate_types.py"


def test_every_shape_can_be_had_from_the_package(generator: ModuleType) -> None:
    assert sorted(shape.name for shape in generator.read_shapes(generator.sources())) == messages.__all__


def test_a_shape_becomes_an_interface(generator: ModuleType) -> None:
    source = '''
class Row(TypedDict):
    """One row."""

    name: str
    tags: list[str | None]
    kind: Literal["a", "b"]
    extra: NotRequired[dict[str, Any]]

class Wider(Row):
    size: int | None
'''
    text = generator.render_typescript(generator.read_shapes(source))
    assert "/** One row. */\nexport interface Row {\n" in text
    assert "  readonly tags: readonly (string | null)[];\n" in text
    assert "  readonly kind: 'a' | 'b';\n" in text
    assert "  readonly extra?: Readonly<Record<string, unknown>>;\n" in text
    assert "export interface Wider extends Row {\n  readonly size: number | null;\n}" in text


def test_an_annotation_without_a_typescript_form_is_refused(generator: ModuleType) -> None:
    with pytest.raises(ValueError, match="no TypeScript for"):
        generator.read_shapes("class Odd(TypedDict):\n    field: set[int]\n")


def test_prose_around_the_generated_part_stays(generator: ModuleType) -> None:
    document = f"# Title\n\n{generator.BEGIN}\nold\n{generator.END}\n\nafter\n"
    text = generator.replaced_part(document, "new\n")
    assert text.startswith("# Title\n\n")
    assert text.endswith(f"{generator.END}\n\nafter\n")
    assert "new" in text
    assert "old" not in text
