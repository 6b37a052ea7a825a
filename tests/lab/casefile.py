"""A case of the lab in one text file: `-- PATH --` before the content of each of its files, sorted by path.

A file that does not end in a newline has the marker `-- PATH -- no newline`. Contents are bytes and are not escaped: no line of them
may look like a marker.
"""
import re
from pathlib import Path

MARKER = re.compile(rb"^-- (?P<path>[^\n]+?) --(?P<bare> no newline)?\n", re.MULTILINE)


def pack(folder: Path, file: Path) -> None:
    """Writes the files of a folder into one."""
    parts = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if MARKER.search(content + b"\n"):
            raise ValueError(f"{path} has a line that looks like a marker")
        bare = bool(content) and not content.endswith(b"\n")
        name = path.relative_to(folder).as_posix().encode()
        parts.append(b"-- " + name + b" --" + (b" no newline\n" if bare else b"\n") + content + (b"\n" if bare else b""))
    file.write_bytes(b"".join(parts))


def unpack(file: Path, folder: Path) -> None:
    """Writes the files of a case below a folder."""
    text = file.read_bytes()
    markers = list(MARKER.finditer(text))
    ends = [marker.start() for marker in markers[1:]] + [len(text)]
    for marker, end in zip(markers, ends):
        content = text[marker.end():end]
        path = folder / marker["path"].decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content[:-1] if marker["bare"] else content)
