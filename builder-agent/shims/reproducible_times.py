"""Gives each inode of an unmounted ext4 times that depend on its sources alone: made, read and moved at SOURCE_DATE_EPOCH, and not
changed later than that. mke2fs -d copies times that the build's own clock has left. Directories changed at SOURCE_DATE_EPOCH:
KIWI NG makes the paths of this host in the root and removes them again, so /tmp changes only if the work directory is below it.

And gives the topmost directory the owner and mode of the one from which it was filled, which mke2fs -d does not copy.

By libext2fs, which is there wherever mke2fs is, and knows the checksums of inodes. Its arguments are the file of the disk, the
sector of 512 bytes at which the file system begins, and that directory.
"""
import ctypes
import os
import stat
import struct
import sys

READ_WRITE, WITH_64_BITS = 0x01, 0x20000
# struct ext4_inode: access, inode change, modification; then the size of the rest; then the fractions of these, and the creation
TIMES, REST_SIZE, REST = 0x08, 0x80, 0x84
OLD_SIZE = 0x80
LINKS = 0x1A
# The lower and the upper 16 bits of the user's and the group's number
USER, GROUP, USER_HIGH, GROUP_HIGH = 0x02, 0x18, 0x78, 0x7A
TOPMOST = 2
# In struct ext4_super_block
SUPER_BLOCK, INODE_SIZE = 1024, 0x58

library = ctypes.CDLL("libext2fs.so.2")


def checked(code):
    if code != 0:
        sys.exit(f"reproducible_times.py: {sys.argv[1]}: libext2fs error {code}")


def set_times(inode, date):
    (mode,) = struct.unpack_from("<H", inode)
    _, _, changed = struct.unpack_from("<iii", inode, TIMES)
    struct.pack_into("<iii", inode, TIMES, date, date, date if stat.S_ISDIR(mode) else min(changed, date))
    if len(inode) > OLD_SIZE and struct.unpack_from("<H", inode, REST_SIZE)[0] >= 24:
        struct.pack_into("<IIIiI", inode, REST, 0, 0, 0, date, 0)


def set_access(inode, like):
    struct.pack_into("<H", inode, 0, like.st_mode)
    for low, high, number in (USER, USER_HIGH, like.st_uid), (GROUP, GROUP_HIGH, like.st_gid):
        struct.pack_into("<H", inode, low, number & 0xFFFF)
        struct.pack_into("<H", inode, high, number >> 16)


def inode_size(disk, offset):
    with open(disk, "rb") as opened:
        opened.seek(offset + SUPER_BLOCK + INODE_SIZE)
        return struct.unpack("<H", opened.read(2))[0]


def main(disk, offset, directory, date):
    system, scan = ctypes.c_void_p(), ctypes.c_void_p()
    manager = ctypes.c_void_p.in_dll(library, "unix_io_manager")
    options = f"offset={offset}".encode()
    flags = READ_WRITE | WITH_64_BITS
    checked(library.ext2fs_open2(os.fsencode(disk), options, flags, 0, 0, manager, ctypes.byref(system)))
    checked(library.ext2fs_open_inode_scan(system, 0, ctypes.byref(scan)))
    number = ctypes.c_uint32()
    inode = ctypes.create_string_buffer(inode_size(disk, offset))
    while True:
        checked(library.ext2fs_get_next_inode_full(scan, ctypes.byref(number), inode, len(inode)))
        if number.value == 0:
            break
        if struct.unpack_from("<H", inode, LINKS)[0] > 0:
            set_times(inode, date)
            if number.value == TOPMOST:
                set_access(inode, os.stat(directory))
            checked(library.ext2fs_write_inode_full(system, number, inode, len(inode)))
    library.ext2fs_close_inode_scan(scan)
    checked(library.ext2fs_close(system))


main(sys.argv[1], 512 * int(sys.argv[2]), sys.argv[3], int(os.environ["SOURCE_DATE_EPOCH"]))
