"""Read by every Python that starts with this directory in PYTHONPATH: KIWI NG while it makes an image.

KIWI NG takes a disk's identifier from the shared generator of the module random, which is for games, not for secrets.
Seeded, it gives the same input the same identifier. What must not be guessed (secrets, uuid4, os.urandom) is not touched.

And started by UEFI, its configuration of GRUB calls linuxefi and initrdefi, which GRUB 2.12 of Debian 13 does not have: there,
linux and initrd are enough. It is a text with variables for string.Template.

And it takes the image's architecture from its own machine. Its --target-arch makes apt fail.

The second can go when KIWI NG asks GRUB for them, and the third when it keeps --target-arch from apt.
"""
import os
import platform
import random
import string

_seed = os.environ.get("KILN_REPRODUCIBLE_SEED")
if _seed:
    random.seed(_seed)

_machine = os.environ.get("KILN_MACHINE")
if _machine:
    platform.machine = lambda: _machine


class _Template(string.Template):
    def __init__(self, template):
        for command in "linux", "initrd":
            call = f"set {command}={command}efi\n"
            there = "[ -f $${prefix}/$${grub_cpu}-efi/linuxefi.mod ]"
            template = template.replace(call, f"if {there}; then {call.strip()}; fi\n")
        super().__init__(template)


string.Template = _Template
