"""Packs a folder as .tar.gz, the same bytes for the same content: sorted, without owners, with the time of the commit.

usage: archive.py FOLDER FILE.tar.gz
"""

import gzip
import os
import pathlib
import sys
import tarfile


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = time
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=time) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            archive.add(folder, folder.name, filter=plain, recursive=False)
            for path in sorted(folder.rglob("*")):
                archive.add(path, f"{folder.name}/{path.relative_to(folder).as_posix()}", filter=plain, recursive=False)


main()
