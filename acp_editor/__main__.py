"""`python -m acp_editor`."""

import sys

from acp_editor.cli import main

if __name__ == "__main__":
    sys.exit(main())
