"""``python -m labelrules`` calls the command line, as ``labelrules`` does."""

import sys

from labelrules.cli.app import main

sys.exit(main())
