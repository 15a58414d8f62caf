"""How fast acp-editor is, against peers in the same run: `python -m benchmarks` (or `make bench`)."""
