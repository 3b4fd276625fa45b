"""Settings that all tests share."""

import os

from hypothesis import settings

# In CI the same examples every time: a chance find must not stop an unrelated change. At home, new ones.
settings.register_profile("ci", derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")
