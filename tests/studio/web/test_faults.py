"""The server as a process of its own, killed in the middle of work, and started again."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress

import pytest

from workbench_site import RULES

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")

THRESHOLD = {"number": 3, "condition": 1}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.txt").write_text(RULES, encoding="utf-8")
    return tmp_path


class Server:
    """A running workbench, and calls of its JSON interface."""

    def __init__(self, process, address):
        self.process = process
        self.base, _, self.token = address.partition("/?token=")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def ask(self, path, **fields):
        """The answer to GET, or to POST if there are fields."""
        request = urllib.request.Request(
            self.base + path,
            data=json.dumps(fields).encode() if fields else None,
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    @property
    def rules(self):
        return [one["text"] for one in self.ask("/api/rules")["rules"]]

    @property
    def revision(self):
        return self.ask("/api/state")["revision"]

    def edit(self, op, **fields):
        return self.ask(f"/api/edit/{op}", revision=self.revision, **fields)


@contextmanager
def started(folder, **options):
    """The workbench as one starts it in a shell; killed at the end."""
    words = ["workbench", "clinic", "model.txt", "--project", "clinic.edits.json", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-m", "labelrules", *words], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip
    try:
        address = process.stdout.readline().strip()
        assert re.match(r"http://127\.0\.0\.1:\d+/\?token=", address), process.stderr.read()
        server = Server(process, address)
        for _ in range(200):
            try:
                server.ask("/api/state")
                break
            except urllib.error.URLError:
                time.sleep(0.05)
        yield server
    finally:
        process.kill()
        process.communicate(timeout=30)


def with_threshold(value):
    return f"infection <- temperature > {value}"


def test_killed_after_an_edit_the_edit_is_there(folder):
    with started(folder) as server:
        server.edit("set_threshold", **THRESHOLD, value="38.9")
        server.edit("note", number=3, text="fever is not enough")
        server.kill()
    with started(folder) as again:
        assert again.rules[2] == with_threshold(38.9)
        assert again.ask("/api/rules/3")["note"] == "fever is not enough"
        assert len(again.ask("/api/history")["steps"]) == 2
        assert again.ask("/api/state")["can_undo"]


def test_killed_while_learning_the_rules_are_those_of_before(folder):
    with started(folder) as server:
        server.edit("set_threshold", **THRESHOLD, value="38.9")
        before = server.rules
        server.ask("/api/learn", revision=server.revision, scope="after", after=3)
        assert server.ask("/api/learning")["is_running"]
        server.kill()
    with started(folder) as again:
        assert again.rules == before
        assert not again.ask("/api/learning")["is_running"]
        again.edit("remove", number=8)
        assert again.rules == before[:-1]


def test_killed_in_the_middle_of_edits_nothing_that_was_answered_is_lost(folder):
    """Edits follow each other without a pause; the kill comes at some moment of one of them."""
    answered = []
    with started(folder) as server:
        killer = threading.Timer(0.7, server.kill)
        killer.start()
        with suppress(OSError, http.client.HTTPException):
            for tenth in range(10_000):
                value = f"{38 + tenth / 1000:.3f}".rstrip("0").rstrip(".")
                server.edit("set_threshold", **THRESHOLD, value=value)
                answered.append(value)
        killer.join()
    assert answered
    with started(folder) as again:
        n_steps = len(again.ask("/api/history")["steps"])
        assert n_steps in (len(answered), len(answered) + 1)  # the last may lack its answer
        if n_steps == len(answered):
            assert again.rules[2] == with_threshold(answered[-1])


def test_ctrl_c_ends_the_server_unless_it_was_started_to_ignore_it(folder):
    with started(folder) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 130
    with started(folder, preexec_fn=ignore_ctrl_c) as server:
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert len(server.rules) == 8
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == -signal.SIGTERM


def ignore_ctrl_c():
    """Act as a shell without job control for what it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
