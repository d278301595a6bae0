"""Runs KIWI NG after it has loaded most of it, and when standard input has come to its end: loading takes the time that what
KIWI NG needs takes to get ready. Its first argument is the program that would be run otherwise, by the same interpreter.

KIWI NG and all that it starts do not wait for the disk: sgdisk and grub-install call sync, which waits until everything that
anybody has written on this host is on the disk, and rpm does for each change of its database. A directory that a crash would
leave useless anyway needs none of that. What is written is the same, since the kernel itself writes a file system out when
it is unmounted.
"""
import ctypes
import os
import runpy
import struct
import sys

try:
    import kiwi.kiwi
    import kiwi.builder.disk
    import kiwi.tasks.system_create
    import kiwi.tasks.system_prepare
except ImportError:
    pass  # another version, which loads what it has by itself

# linux/seccomp.h, linux/filter.h, linux/audit.h, and the numbers of the calls on x86_64
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, SUCCEED = 0x7FFF0000, 0x00050000
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
CALL, ARCHITECTURE = 0, 4
X86_64 = 0xC000003E
FSYNC, FDATASYNC, SYNC, SYNC_FILE_RANGE, SYNCFS = 74, 75, 162, 277, 306


def succeed_without_syncing():
    """Programs of other architectures, and kernels without seccomp, wait as they always did."""
    calls = [FSYNC, FDATASYNC, SYNC, SYNC_FILE_RANGE, SYNCFS]
    filter = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 1, 0, X86_64), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, CALL)]
    filter += [(JUMP_IF_EQUAL, len(calls) - index, 0, call) for index, call in enumerate(calls)]
    filter += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, SUCCEED)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in filter))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(filter), ctypes.addressof(code)))
    ctypes.CDLL(None).prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)


succeed_without_syncing()
sys.stdin.buffer.read()
os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
