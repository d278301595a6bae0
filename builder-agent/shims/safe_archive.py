"""Makes KIWI NG quote what it gives to a shell when it packs the root of a container: it passes the names in / unquoted, so the
file "read me" was missing from the image, and a name with & or ; ran as a command on the builder. And if tar fails, KIWI NG
fails: it looked only at xz, the last program of the pipe, and the image was incomplete.

Can go when KIWI NG does both.
"""
import shlex

from kiwi.archive.tar import ArchiveTar
from kiwi.command import Command
from kiwi.defaults import Defaults


def quoted(words):
    return " ".join(map(shlex.quote, words))


def create_xz_compressed(archive, source_dir, exclude=None, options=None, xz_options=None):
    items = archive._get_archive_items(source_dir, exclude)
    if archive.create_from_file_list:
        items = ["--", *items]  # otherwise tar takes a name that begins with - as an option
    packing = ["tar", "-C", source_dir, *(options or []), *archive.xattrs_options, "-c", "--to-stdout", *items]
    compressing = ["xz", "-f", *(xz_options or Defaults.get_xz_compression_options())]
    file = archive.filename + ".xz"
    Command.run(["bash", "-c", f"set -o pipefail; {quoted(packing)} | {quoted(compressing)} > {shlex.quote(file)}"])
    return file


ArchiveTar.create_xz_compressed = create_xz_compressed
