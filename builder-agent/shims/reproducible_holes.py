"""Gives a disk a hole wherever it has a whole block of zeros, so that tar writes the same list of holes each time.

mke2fs zeroes its journal by allocating blocks that it never writes. The kernel calls them a hole until someone reads them, and data
as long as what was read is in memory. So a disk that is hashed while tar packs it would give other archives now and then.

Its argument is the file of the disk.
"""
import ctypes
import errno
import os
import sys

KEEP_SIZE, PUNCH_HOLE = 0x01, 0x02
BLOCK = 4096
PIECE = 256 * BLOCK

library = ctypes.CDLL(None, use_errno=True)
zeros = bytes(PIECE)


def punch(disk, start, end):
    span = ctypes.c_long(start), ctypes.c_long(end - start)
    if end > start and library.fallocate(disk, KEEP_SIZE | PUNCH_HOLE, *span) != 0:
        if ctypes.get_errno() == errno.EOPNOTSUPP:
            sys.exit(0)  # then this file system has no such blocks
        sys.exit(f"reproducible_holes.py: {sys.argv[1]}: {os.strerror(ctypes.get_errno())}")


def next_data(disk, at, size):
    try:
        return os.lseek(disk, at, os.SEEK_DATA)
    except OSError:
        return size  # there is none


def punch_zeros(disk, start, end):
    for at in range(start, end, PIECE):
        piece = os.pread(disk, min(PIECE, end - at), at)
        if piece == zeros[: len(piece)]:
            punch(disk, at, at + len(piece))
            continue
        for block in range(0, len(piece), BLOCK):
            if piece[block : block + BLOCK] == zeros[:BLOCK]:
                punch(disk, at + block, at + block + BLOCK)


def main(disk):
    size = os.fstat(disk).st_size
    at = 0
    while at < size:
        start = next_data(disk, at, size)
        # A block that was never written would be in this hole, too.
        punch(disk, at, start)
        at = os.lseek(disk, start, os.SEEK_HOLE) if start < size else size
        punch_zeros(disk, start, at)


main(os.open(sys.argv[1], os.O_RDWR))
