"""Runs a program, its first argument, with the others. Whenever it asks the kernel for a clone of a file (FICLONE), this copies the file.

dracut clones a thousand files. Where the file system has no clones, as ext4, it starts cp for each of them. This is faster, and the
files are the same on every file system. For a file of which dracut would keep less than cp does, it gets an error, and starts cp.

Can go when dracut copies files without another program.
"""
import ctypes
import fcntl
import os
import select
import socket
import stat
import struct
import sys

from system_calls import IOCTL, ask_about

FICLONE = 0x40049409
# linux/seccomp.h: the requests, and struct seccomp_notif and seccomp_notif_resp; then a call, which has one number everywhere
RECEIVE, ANSWER, IS_WAITING = 0xC0502100, 0xC0182101, 0x40082102
NOTIFICATION, RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
PIDFD_GETFD = 438
UNSUPPORTED = 95

library = ctypes.CDLL(None, use_errno=True)


def start(command):
    """→ the process, and the descriptor from which its questions come; None if this kernel asks none"""
    ours, its = socket.socketpair()
    process = os.fork()
    if process == 0:
        listener = ask_about(IOCTL, FICLONE)
        if listener >= 0:
            socket.send_fds(its, [b"."], [listener])
            os.close(listener)
        os.execv(command[0], command)
    its.close()
    listeners = socket.recv_fds(ours, 1, 1)[1]
    return process, listeners[0] if listeners else None


def opened_in(process, number):
    pidfd = os.pidfd_open(process)
    try:
        file = library.syscall(PIDFD_GETFD, pidfd, number, 0)
    finally:
        os.close(pidfd)
    if file < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return file


def copy(source, target):
    of = os.fstat(source)
    # dracut changes the owner afterwards, which takes these bits away. cp gives them back.
    if not stat.S_ISREG(of.st_mode) or of.st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise OSError(UNSUPPORTED, "not kept")
    done = 0
    while done < of.st_size:
        sent = os.sendfile(target, source, done, of.st_size - done)
        if sent == 0:
            raise OSError(UNSUPPORTED, "it became shorter")
        done += sent
    os.fchmod(target, stat.S_IMODE(of.st_mode))


def answer(listener):
    question = bytearray(NOTIFICATION.size)
    fcntl.ioctl(listener, RECEIVE, question)
    number, process, _, _, _, _, target, _, source, *_ = NOTIFICATION.unpack(question)
    files = []
    try:
        files += [opened_in(process, source), opened_in(process, target)]
        # Another process may have got the number of one that has ended.
        fcntl.ioctl(listener, IS_WAITING, struct.pack("=Q", number))
        copy(*files)
        error = 0
    except OSError:
        error = -UNSUPPORTED  # then cp copies it
    finally:
        for file in files:
            os.close(file)
    fcntl.ioctl(listener, ANSWER, RESPONSE.pack(number, 0, error, 0))


def serve(process, listener):
    """Answers until the process has ended. From then on the kernel gives an error to what it has started."""
    ended = os.pidfd_open(process)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while not any(file == ended for file, _ in poll.poll()):
        try:
            answer(listener)
        except FileNotFoundError:
            pass  # whoever asked has been killed
    os.close(listener)


if sys.version_info < (3, 9):  # has none of these functions
    os.execv(sys.argv[1], sys.argv[1:])
process, listener = start(sys.argv[1:])
if listener is not None:
    serve(process, listener)
code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
sys.exit(code if code >= 0 else 128 - code)
