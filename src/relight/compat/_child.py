"""What a process runs that was started by a script under ``python -m relight.compat``.

The script's ``__main__`` says that it is this module, so that ``multiprocessing`` (spawn) and Fabric's
launchers start
their processes here: with the import hook in place, as the first one.
"""

from __future__ import annotations

import io
import os
import sys

from relight.compat import _runner
from relight.compat._finder import install

if __name__ == "__main__":  # `python -m relight.compat._child args…`, by a launcher of Fabric
    sys.exit(_runner.main([os.environ[_runner.SCRIPT], *sys.argv[1:]]))

if __name__ == "__mp_main__":  # by multiprocessing, which wants the names of the script's module
    install()
    __file__ = os.environ[_runner.SCRIPT]
    with io.open_code(__file__) as stream:
        exec(compile(stream.read(), __file__, "exec", dont_inherit=True), globals())
