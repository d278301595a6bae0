"""Read by every Python that starts with this directory in PYTHONPATH: KIWI NG while it makes an image.

KIWI NG takes a disk's identifier from the shared generator of the module random, which is for games, not for secrets.
Seeded, it gives the same input the same identifier. What must not be guessed (secrets, uuid4, os.urandom) is not touched.
"""
import os
import random

_seed = os.environ.get("KILN_STEADY_SEED")
if _seed:
    random.seed(_seed)
