"""``python -m labelrules`` is the same as ``labelrules``."""

import sys

from labelrules.cli.front import main

sys.exit(main())
