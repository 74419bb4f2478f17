"""``python -m labelrules`` is the same as ``labelrules``."""

import sys

from labelrules.cli.app import main

sys.exit(main())
