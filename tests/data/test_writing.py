"""Where files are written: over files, through links, into pipes and devices, and where not."""

import os
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from extras import needs
from labelrules import load, load_model, parse, save
from labelrules.cli.io import write
from labelrules.data import FileError, read_csv, read_mulan, read_parquet

from labelrules.data import write_csv, write_mulan, write_parquet  # isort: skip
from labelrules.data.files.access import checked_target

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, modes and nodes are POSIX's")

READERS = load("magazines")
THEORY = parse("not fashion <- sex = Male", READERS.schema)


def save_theory(path):
    save(THEORY, path)


def write_some_text(path):
    write("some text\n", str(path))


def write_table(path):
    write_csv(READERS, path)


def write_arff(path):
    write_mulan(READERS, path)


def write_columns(path):
    needs("pyarrow")
    write_parquet(READERS, path)


WRITERS = [save_theory, write_some_text, write_table, write_arff, write_columns]
READ = {
    save_theory: lambda path: load_model(path) == THEORY,
    write_some_text: lambda path: path.read_text(encoding="utf-8") == "some text\n",
    write_table: lambda path: read_csv(path) == READERS,
    write_arff: lambda path: read_mulan(path) == READERS,
    write_columns: lambda path: read_parquet(path) == READERS,
}
every_writer = pytest.mark.parametrize("write", WRITERS)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@every_writer
def test_a_link_stays_and_its_file_is_replaced(write, tmp_path):
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to(Path("folder", "file"))
    write(link)
    assert link.is_symlink()
    assert READ[write](link)
    assert b"old" != file.read_bytes() == link.read_bytes()
    assert not list(tmp_path.rglob("*.tmp"))


@every_writer
def test_a_link_to_nothing_becomes_one_to_a_file(write, tmp_path):
    (tmp_path / "link").symlink_to("file")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert READ[write](tmp_path / "link")
    assert not (tmp_path / "file").is_symlink()


@every_writer
def test_the_mode_of_a_file_is_kept_and_new_ones_get_the_usual_one(write, tmp_path):
    (tmp_path / "plain").touch()
    write(tmp_path / "new")
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "plain")
    for mode in (0o600, 0o664):
        (tmp_path / "new").chmod(mode)
        write(tmp_path / "new")
        assert mode_of(tmp_path / "new") == mode


def refusing(monkeypatch, refused):
    """A system in which one may not give files away, in some ways."""
    given = []

    def chown(path, owner, group):
        if refused(owner, group):
            raise PermissionError(1, "not permitted")
        given.append((owner, group))

    monkeypatch.setattr(os, "chown", chown)
    return given


def test_the_group_stays_where_the_owner_cannot(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o664)
    given = refusing(monkeypatch, lambda owner, group: owner != -1)
    write_some_text(path)
    assert given == [(-1, path.stat().st_gid)]
    assert mode_of(path) == 0o664


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root gives files to groups")
def test_what_a_group_was_allowed_is_not_allowed_to_another(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 4321, 4321)
    path.chmod(0o664)
    refusing(monkeypatch, lambda owner, group: True)
    write_some_text(path)
    assert mode_of(path) == 0o604


def test_no_program_is_made_to_run_as_somebody_else(tmp_path):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o6755)
    write_some_text(path)
    assert mode_of(path) == 0o755


def test_hard_links_part(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"old")
    second.hardlink_to(first)
    write_some_text(first)
    assert (first.read_bytes(), second.read_bytes()) == (b"some text\n", b"old")


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root gives files to others")
def test_a_sticky_folder_lets_nobody_replace_what_is_not_theirs(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    os.chown(tmp_path / "file", 4321, -1)
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    with pytest.raises(FileError, match=r"cannot write: .* only its owner may replace the file"):
        write_some_text(tmp_path / "file")
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    write_some_text(tmp_path / "file")


def test_a_path_may_go_up(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("../above", "../here/../again", "./.././third"):
        write_some_text(Path(name))
    assert {one.name for one in tmp_path.iterdir()} == {"here", "above", "again", "third"}


def test_a_secret_is_not_shown_while_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.touch(mode=0o600)
    seen = []
    settled = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda file: (seen.append(stat.S_IMODE(os.fstat(file).st_mode)), settled(file))
    )
    write_some_text(path)
    assert seen == [0o600]


@every_writer
def test_a_file_that_may_only_be_read_is_left_alone(write, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(FileError, match="file: cannot write: permission denied"):
        write(path)
    assert (path.read_bytes(), mode_of(path)) == (b"old", 0o444)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@contextmanager
def read_from(path):
    """Read a pipe in a thread; the list holds all of it at the end."""
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    thread.start()
    yield found
    thread.join(timeout=60)


@every_writer
def test_pipes_are_written_into(write, tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    if write is write_arff:
        with pytest.raises(FileError, match="no XML file can be beside it: pass xml="):
            write(pipe)
        return
    with read_from(pipe) as found:
        write(pipe)
    write(file)
    assert found == [file.read_bytes()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert not (tmp_path / "pipe.schema.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@every_writer
def test_devices_are_written_into(write, tmp_path):
    """By links, so that the devices would not suffer from a mistake."""
    if write is write_arff:
        pytest.skip("two files are needed")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "full").symlink_to("/dev/full")
    write(tmp_path / "null")
    with pytest.raises(FileError, match="full: cannot write: there is no space left"):
        write(tmp_path / "full")
    assert all((tmp_path / name).is_symlink() for name in ("null", "full"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"])
def test_the_standard_output_goes_on_where_it_is(name, tmp_path):
    """Also if it is a file, which has been written to already."""
    program = (
        "import sys; from labelrules.cli.io import write; print('before', flush=True);"
        f"write('text\\n', {name!r}); print('after')"
    )
    with (tmp_path / "file").open("wb") as file:
        file.write(b"first\n")
        file.flush()
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "first\nbefore\ntext\nafter\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"before\ntext\nafter\n"


@every_writer
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "this is a folder; name a file"),
        (".", "this is a folder; name a file"),
        ("/", "this is a folder; name a file"),
        ("here/", "this is a folder; name a file"),
        ("new/", "there is no folder 'new'; name a file"),
        ("file/", "there is no folder 'file'; name a file"),
        ("nowhere/file", "there is no folder 'nowhere'"),
        ("nowhere/../file", "there is no folder 'nowhere'"),
        ("here/nowhere/../../new", "there is no folder 'here/nowhere'"),
        ("file/../new", "there is no folder 'file'"),
        ("file/file", "'file' is no folder"),
        ("lost", "there is no folder '.*nowhere'"),
        ("round", "Too many levels of symbolic links"),
        ("a\0b", "no file can have this name"),
        ("x" * 300, "File name too long"),
    ],
)
def test_where_no_file_can_be_is_said(write, name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    Path("file").write_bytes(b"old")
    Path("lost").symlink_to("nowhere/file")
    Path("round").symlink_to("round")
    before = sorted(os.listdir())
    with pytest.raises(FileError, match=f"cannot write: {message}"):
        write(name)
    assert (sorted(os.listdir()), os.listdir("here")) == (before, [])
    assert Path("file").read_bytes() == b"old"


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError, match="path must be text or a path, not None"):
        checked_target(None)
