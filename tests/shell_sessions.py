"""Shells as people have them before them: in a terminal, with Tab."""

import contextlib
import os
import pty
import re
import select
import signal
import time

READY = "ready for the next line"
PROGRAM = {
    "bash": "labelrules() { printf '<%s>' \"$@\"; echo; }",
    "zsh": "labelrules() { printf '<%s>' \"$@\"; echo; }",
    "fish": "function labelrules; printf '<%s>' $argv; echo; end",
}
"""In the place of the program, its arguments are printed; completions come from the program."""


class Session:
    """A shell in a terminal of its own.

    Parameters
    ----------
    shell : str
        Its name.
    folder : path
        Where it runs; also its home, so that no one's settings matter.
    programs : path
        A folder in which ``labelrules`` is, which the completion script calls.
    setup : iterable of str
        Lines to begin with.
    """

    def __init__(self, shell, folder, programs, setup):
        words = {"bash": ["bash", "--norc"], "zsh": ["zsh", "-f"], "fish": ["fish", "-N"]}[shell]
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            path = f"{programs}{os.pathsep}{os.environ['PATH']}"
            keep = {"PATH": path, "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C"}
            os.execvpe(words[0], [*words, "-i"], {**keep, "COLUMNS": "200"})
        for line in [*setup, PROGRAM[shell]]:
            self.line(line)

    def line(self, text):
        """What is printed after a line with Tabs in it."""
        before, _, after = text.rpartition("\t")
        if before:
            time.sleep(0.3)  # before there is a prompt again, a Tab is not heard
            self._write(f"{before}\t")
            time.sleep(0.5)  # a Tab is answered before what follows is read
        self._write(f"{after}\n")
        self._write("echo " + READY.replace(" ", "' '") + "\n")
        return self._read()

    def given(self, text):
        """The words that the program is given when a line is completed and entered."""
        found = re.findall(r"^((?:<[^\n]*>)+)\r?$", self.line(f"labelrules {text}\t"), re.M)
        return found[-1] if found else None

    def _write(self, text):
        os.write(self.terminal, text.encode())

    def _read(self, seconds=20):
        found, end = "", time.monotonic() + seconds
        while time.monotonic() < end and not re.search(rf"^{READY}\r?$", found, re.M):
            if select.select([self.terminal], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    text = os.read(self.terminal, 65536).decode(errors="replace")
                    found += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07", "", text)
        return found

    def close(self):
        """End the shell."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)
