"""The environment of the other programs: one for all, at the versions of `requirements/peers.txt`.

Each program is installed by itself, so that one that cannot be installed is no end of the others;
why it cannot is kept as the reason in the results. ``PEERS_PYTHON`` names another interpreter to
make the environment with.
"""

import os
import sys
from functools import cache
from pathlib import Path

from parts.environments import peers_folder, run

from peers.catalog import PACKAGES

PINNED = Path(__file__).resolve().parents[2] / "requirements" / "peers.txt"


def environment() -> Path:
    return peers_folder() / "environment"


def interpreter() -> Path:
    return environment() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@cache
def python_for(program: str) -> Path:
    """The interpreter that runs a program; PeerError if it cannot be installed."""
    if program not in PACKAGES:
        return Path(sys.executable)
    if not interpreter().exists():
        run(os.environ.get("PEERS_PYTHON", sys.executable), "-m", "venv", str(environment()))
    done = environment() / f"{program}.installed"
    if not done.exists():
        install = ("-m", "pip", "install", "--quiet", "-c", str(PINNED))
        run(str(interpreter()), *install, *PACKAGES[program])
        done.touch()
    return interpreter()


@cache
def weka() -> str:
    """The class path of Weka and of our workers; PeerError if there is no Java, or no Weka."""
    from peers.jrip import compiled

    return compiled()
