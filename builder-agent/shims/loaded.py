"""Runs KIWI NG after it has loaded most of it, and when standard input has come to its end: loading takes the time that what
KIWI NG needs takes to get ready. Its first argument is the program that would be run otherwise, by the same interpreter.

KIWI NG and all that it starts do not wait for the disk: sgdisk and grub-install call sync, which waits until everything that
anybody has written on this host is on the disk, and rpm does for each change of its database. A directory that a crash would
leave useless anyway needs none of that. What is written is the same, since the kernel itself writes a file system out when
it is unmounted. It also reads what they write as it comes (prompt_output.py), and quotes the names that it packs
(safe_archive.py).
"""
import os
import runpy
import sys

try:
    import kiwi.kiwi
    import kiwi.builder.disk
    import kiwi.tasks.system_create
    import kiwi.tasks.system_prepare
except ImportError:
    pass  # another version, which loads what it has by itself

# The folder of the shims is the agent's, and stays as it is.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
from system_calls import FDATASYNC, FSYNC, SYNC, SYNC_FILE_RANGE, SYNCFS, succeed_at_once
try:
    import prompt_output
    import safe_archive
except ImportError:
    pass  # the same
del sys.path[0]
sys.dont_write_bytecode = False

succeed_at_once(FSYNC, FDATASYNC, SYNC, SYNC_FILE_RANGE, SYNCFS)
sys.stdin.buffer.read()
os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
