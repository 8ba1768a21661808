"""A scan of image layers for package files while they stream by.

The standard library's reader needs twelve times the processor time for this.
"""

import posixpath

from orchestrator.bundles.describe.layer_contents import UNREAD, LayerContents, is_package_file, stored_text

MAX_FILE_BYTES = 64 << 20
"""Limit of a file that is stored. A larger package database counts as unreadable."""
_BLOCK = 512
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_REGULAR, _LONG_NAME, _PAX = b"0\0", b"L", b"x"
_WITHOUT_CONTENT = b"123456"
"""Links, devices, folders and pipes, whatever size their headers state."""


class LayerScan:
    """A reader of a plain tar in pieces of any size."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._left = 0
        """Bytes of the current entry that are still to come, with its padding."""
        self._padding = 0
        self._content: bytearray | None = None
        """Bytes of the current entry, None if it is skipped."""
        self._kind, self._name = b"", ""
        self._next_name = ""
        self._next_size: int | None = None
        self._files: dict[str, str] = {}
        self._removed: list[str] = []
        self._emptied: list[str] = []

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        at, end = 0, len(data)
        while at < end:
            if self._left:
                step = min(self._left, end - at)
                if self._content is not None:
                    self._content += data[at : at + step]
                self._left -= step
                if not self._left:
                    self._finish()
            else:
                step = min(_BLOCK - len(self._header), end - at)
                self._header += data[at : at + step]
                if len(self._header) == _BLOCK:
                    self._begin(bytes(self._header))
                    self._header.clear()
            at += step

    def contents(self) -> LayerContents:
        """Return the contents so far, in order of path."""
        files = dict(sorted(self._files.items()))
        return LayerContents(files=files, removed=tuple(sorted(self._removed)), emptied=tuple(sorted(self._emptied)))

    def _begin(self, header: bytes) -> None:
        self._kind = header[156:157]
        name = self._next_name or _name(header)
        size = _number(header[124:136]) if self._next_size is None else self._next_size
        describes_next = self._kind in {_LONG_NAME, _PAX}
        if not describes_next:
            self._next_name, self._next_size = "", None
        self._name = name.removeprefix("./").strip("/")
        needed = describes_next or (self._kind in _REGULAR and is_package_file(self._name))
        self._content = bytearray() if needed and size <= MAX_FILE_BYTES else None
        if needed and self._content is None and not describes_next:
            self._files[self._name] = UNREAD
        self._left = 0 if self._kind in _WITHOUT_CONTENT else -(-size // _BLOCK) * _BLOCK
        self._padding = self._left - size if self._left else 0
        self._note_removal()
        if not self._left:
            self._finish()

    def _note_removal(self) -> None:
        folder, base = posixpath.split(self._name)
        if base == _OPAQUE:
            self._emptied.append(folder)
        elif base.startswith(_WHITEOUT):
            self._removed.append(posixpath.join(folder, base.removeprefix(_WHITEOUT)))

    def _finish(self) -> None:
        padded, self._content = self._content, None
        if padded is None:
            return
        content = bytes(padded[: len(padded) - self._padding])
        if self._kind == _LONG_NAME:
            self._next_name = content.rstrip(b"\0").decode("utf-8", "replace")
        elif self._kind == _PAX:
            records = _records(content)
            self._next_name = records.get("path", self._next_name)
            self._next_size = int(records["size"]) if records.get("size", "").isdigit() else None
        else:
            self._files[self._name] = stored_text(self._name, content)


def _name(header: bytes) -> str:
    name = header[:100].split(b"\0", 1)[0]
    # The GNU format has other fields in place of the POSIX prefix.
    prefix = header[345:500].split(b"\0", 1)[0] if header[257:263] == b"ustar\0" else b""
    return (prefix + b"/" + name if prefix else name).decode("utf-8", "replace")


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        return int.from_bytes(field, "big") & ((1 << (8 * len(field) - 1)) - 1)
    digits = field.strip(b" \0")
    return int(digits, 8) if digits else 0


def _records(content: bytes) -> dict[str, str]:
    """Return the records of a PAX header, lines `27 path=…` that begin with their own length."""
    records: dict[str, str] = {}
    while content:
        length, _, rest = content.partition(b" ")
        if not length.isdigit() or not 0 < int(length) <= len(content):
            break
        key, _, value = rest[: int(length) - len(length) - 2].partition(b"=")
        records[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        content = content[int(length) :]
    return records
