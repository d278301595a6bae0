"""Lets system calls of this process, and of all that it starts, succeed at once and do nothing, or be answered by another process.

By a seccomp filter. Programs of other architectures, and kernels without seccomp, call as they always did.
"""
import ctypes
import struct

# linux/seccomp.h, linux/filter.h, linux/audit.h, and the numbers of the calls on x86_64
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SECCOMP, SET_FILTER, NEW_LISTENER = 317, 1, 8
ALLOW, SUCCEED, ASK = 0x7FFF0000, 0x00050000, 0x7FC00000
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
CALL, ARCHITECTURE, SECOND_ARGUMENT = 0, 4, 24
X86_64 = 0xC000003E
FSYNC, FDATASYNC, SYNC, SYNC_FILE_RANGE, SYNCFS = 74, 75, 162, 277, 306
NANOSLEEP, CLOCK_NANOSLEEP = 35, 230
IOCTL = 16


def succeed_at_once(*calls):
    filter = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 1, 0, X86_64), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, CALL)]
    filter += [(JUMP_IF_EQUAL, len(calls) - index, 0, call) for index, call in enumerate(calls)]
    filter += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, SUCCEED)]
    ctypes.CDLL(None).prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program_of(filter), 0, 0)


def ask_about(call, request):
    """About a call with that second argument, whoever has the descriptor that this returns is asked. Negative if nobody can be."""
    filter = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 0, 5, X86_64), (LOAD, 0, 0, CALL), (JUMP_IF_EQUAL, 0, 3, call)]
    filter += [(LOAD, 0, 0, SECOND_ARGUMENT), (JUMP_IF_EQUAL, 0, 1, request), (RETURN, 0, 0, ASK), (RETURN, 0, 0, ALLOW)]
    return ctypes.CDLL(None).syscall(SECCOMP, SET_FILTER, NEW_LISTENER, program_of(filter))


def program_of(filter):
    """→ struct sock_fprog, by reference"""
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in filter))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(filter), ctypes.addressof(code)))
    program.code = code  # must live as long
    return program
