"""The files of an image that list its installed packages.

The Python of the image runs this text alone, as `python -I -S -c TEXT [ROOT]`, whatever release it is from 3.6 on.
"""

import base64
import json
import os
import stat
import sys

MAX_DATABASE_BYTES = 64 << 20
MAX_HEADER_BYTES = 1 << 20
MAX_BYTES = 96 << 20
"""Limit of all files together. Those beyond it count as unreadable."""
MAX_FILES = 20000
KERNEL = ("dev", "proc", "sys")
DEBIAN = "var/lib/dpkg/status"
RPM = tuple(
    folder + name
    for folder in ("var/lib/rpm/", "usr/lib/sysimage/rpm/")
    for name in ("Packages", "Packages.db", "rpmdb.sqlite", "rpmdb.sqlite-wal")
)
DATABASES = (DEBIAN, "etc/os-release", "usr/lib/os-release", "lib/apk/db/installed", "usr/lib/apk/db/installed") + RPM
SITES = ("site-packages", "dist-packages")
CONDA = "/conda-meta/history"


def main(root="/"):
    """Write one line for each file, in order of path, as JSON: its path below `root` and its bytes in Base64.

    The bytes are null if the file cannot be read, and so are those of a folder that cannot be listed. Of a Python
    distribution only the header is written.
    """
    left = MAX_BYTES
    number = 0
    for path in paths(root):
        number += 1
        if number > MAX_FILES:
            write("more than %d files" % MAX_FILES, None)
            return
        content = read(root, path, left)
        left -= len(content or b"")
        write(path, content)


def write(path, content):
    """Write one line."""
    name = os.fsencode(path).decode("utf-8", "replace")
    text = None if content is None else base64.b64encode(content).decode("ascii")
    sys.stdout.write(json.dumps([name, text]) + "\n")


def paths(root):
    """Yield the path of every package file, and of every folder that cannot be listed."""
    closed = []
    for folder, folders, files in os.walk(root, onerror=lambda error: closed.append(error.filename)):
        if folder == root:
            folders[:] = [name for name in folders if name not in KERNEL]
        folders.sort()
        for name in sorted(files):
            place = os.path.join(folder, name)
            path = os.path.relpath(place, root)
            if is_package_file(path) and not os.path.islink(place):
                yield path
    for folder in closed:
        yield os.path.relpath(folder, root)


def is_package_file(path):
    """Return true if a file lists installed packages or names the distribution."""
    if path in DATABASES or path.startswith(DEBIAN + ".d/") or path.endswith(CONDA):
        return True
    folder, _, name = path.rpartition("/")
    site, _, distribution = folder.rpartition("/")
    if os.path.basename(site) in SITES:
        wanted = {".dist-info": ("METADATA", "direct_url.json"), ".egg-info": ("PKG-INFO",)}
        return name in wanted.get(os.path.splitext(distribution)[1], ())
    return os.path.basename(folder) in SITES and name.endswith(".egg-info")


def read(root, path, left):
    """Return the bytes of a file, None if it cannot be read or is no plain file or is too large."""
    place = os.path.join(root, path)
    is_header = path.endswith(("METADATA", "PKG-INFO", ".egg-info"))
    limit = min(left, MAX_HEADER_BYTES if is_header else MAX_DATABASE_BYTES)
    try:
        if not stat.S_ISREG(os.lstat(place).st_mode):
            return None
        with open(place, "rb") as file:
            content = file.read(limit + 1)
    except OSError:
        return None
    if is_header:
        # The description that follows may have many pages.
        return content[:limit].replace(b"\r\n", b"\n").partition(b"\n\n")[0] + b"\n"
    return content if len(content) <= limit else None


if __name__ == "__main__":
    main(*sys.argv[1:])
