"""Gives KIWI NG the output of programs as it comes. KIWI NG reads one byte at a time, and after each it waits for an error message,
for a ten thousandth of a second. So 100 kB take 13 s, and when the pipe is full, apt waits, too.

Can go when KIWI NG waits for both at once.
"""
import os
import select

from kiwi.command_process import Codec, CommandIterator

PIECE = 1 << 16


def next_line(iterator):
    """The next line of the output, or None if there is none yet."""
    line, newline, rest = iterator.command_output_line.partition(b"\n")
    if newline:
        iterator.command_output_line = rest
        return Codec.decode(line)
    if iterator.output_eof_reached and iterator.errors_eof_reached:
        iterator.command.process.wait()
        raise StopIteration()
    read_more(iterator)
    return None


def read_more(iterator):
    output = None if iterator.output_eof_reached else iterator.command.output
    errors = None if iterator.errors_eof_reached else iterator.command.error
    readable = select.select([stream for stream in (output, errors) if stream], [], [])[0]
    if output in readable:
        piece = os.read(output.fileno(), PIECE)
        iterator.command_output_line += piece
        iterator.output_eof_reached = not piece
    if errors in readable:
        piece = os.read(errors.fileno(), PIECE)
        iterator.command_error_output += piece
        iterator.errors_eof_reached = not piece


CommandIterator.__next__ = next_line
