"""Where peers live: files and environments of their own, made when first needed."""

import os
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / ".peers"


class PeerError(Exception):
    """The peer cannot be had; the message says why."""


def peers_folder() -> Path:
    """The folder for peers, which is no part of the project."""
    PEERS.mkdir(exist_ok=True)
    (PEERS / ".gitignore").write_text("*\n")
    return PEERS


def interpreter(package: str, *others: str) -> Path:
    """The interpreter of an environment with the newest release of a package for this Python.

    An environment of its own, because peers pin other versions than ours.
    """
    environment = peers_folder() / package
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (environment / "complete").exists():
        run(sys.executable, "-m", "venv", "--clear", str(environment))
        run(str(python), "-m", "pip", "install", "--quiet", package, *others)
        (environment / "complete").touch()
    return python


def run(*command: str) -> str:
    """What a command prints; its last words are the message if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise PeerError(f"there is no '{command[0]}'") from None
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it does not say why"]
        raise PeerError(f"'{' '.join(command[1:4])}' failed: {lines[-1]}")
    return done.stdout
