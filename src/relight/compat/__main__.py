"""``python -m relight.compat [options] script.py args…``: run legacy code unchanged on the core."""

from __future__ import annotations

import sys

from relight.compat._runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
