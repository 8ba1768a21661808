"""The files of an image that list its installed packages.

Runs alone, as `python -I -S -c SOURCE [ROOT]`, in any image, with the packages of that image left out of its path.
"""

import json
import os
import stat
import sys

MAX_FILE_BYTES = 64 << 20
"""Limit of a file that is read. A larger package database counts as unreadable."""
KERNEL = ("dev", "proc", "sys")
DEBIAN = "var/lib/dpkg/status"
RPM = tuple(
    folder + name
    for folder in ("var/lib/rpm/", "usr/lib/sysimage/rpm/")
    for name in ("Packages", "Packages.db", "rpmdb.sqlite", "rpmdb.sqlite-wal")
)
DATABASES = (DEBIAN, "etc/os-release", "usr/lib/os-release", "lib/apk/db/installed", "usr/lib/apk/db/installed")
SITES = ("site-packages", "dist-packages")
CONDA = "/conda-meta/history"


def main(root="/"):
    """Write one line for each file, in order of path, as JSON: its path below `root` and its bytes as Latin-1.

    The bytes are null if the file cannot be read. Of a Python distribution only the header is written.
    """
    for folder, folders, files in os.walk(root):
        if folder == root:
            folders[:] = [name for name in folders if name not in KERNEL]
        folders.sort()
        for name in sorted(files):
            place = os.path.join(folder, name)
            path = os.path.relpath(place, root)
            if is_package_file(path) and stat.S_ISREG(os.lstat(place).st_mode):
                shown = os.fsencode(path).decode("utf-8", "replace")
                sys.stdout.write(json.dumps([shown, content(place, path)]) + "\n")


def is_package_file(path):
    """Return true if a file lists installed packages or names the distribution."""
    if path in DATABASES or path in RPM or path.startswith(DEBIAN + ".d/") or path.endswith(CONDA):
        return True
    folder, _, name = path.rpartition("/")
    site, _, distribution = folder.rpartition("/")
    if os.path.basename(site) in SITES:
        wanted = {".dist-info": ("METADATA", "direct_url.json"), ".egg-info": ("PKG-INFO",)}
        return name in wanted.get(os.path.splitext(distribution)[1], ())
    return os.path.basename(folder) in SITES and name.endswith(".egg-info")


def content(place, path):
    """Return what is written of a file."""
    try:
        with open(place, "rb") as file:
            text = file.read(MAX_FILE_BYTES + 1).decode("latin-1")
    except OSError:
        return None
    if len(text) > MAX_FILE_BYTES:
        return None
    if path.endswith(("METADATA", "PKG-INFO", ".egg-info")):
        # The description that follows may have many pages.
        return text.replace("\r\n", "\n").partition("\n\n")[0] + "\n"
    return text


if __name__ == "__main__":
    main(*sys.argv[1:])
