"""`python -m rebecsim` is the command `rebecsim`.

Python puts the working directory first where it looks for modules. It is taken out, so that a
`random.py` beside a scenario is not imported; unless it is where this package was found.
"""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] != __file__.rsplit(os.sep, 2)[0]:
        del sys.path[0]

    from rebecsim.cli import main

    main()
