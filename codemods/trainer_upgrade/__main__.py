"""``python -m trainer_upgrade`` is ``trainer-upgrade``."""

import sys

from trainer_upgrade.cli import main

if __name__ == "__main__":
    sys.exit(main())
