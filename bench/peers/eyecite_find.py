"""Finds the citations of the texts in a JSON file with eyecite.

    eyecite_find.py TEXTS ROUNDS

TEXTS is a list of strings, each found by itself, as eyecite is meant to be used. Prints one line
of JSON: the version, the least processor time of the rounds, and for each text the kind and the
first character of each citation.
"""

import importlib.metadata
import json
import logging
import sys
import time

from eyecite import get_citations

logging.disable(logging.CRITICAL)

path, rounds = sys.argv[1], int(sys.argv[2])
with open(path, encoding="utf-8") as file:
    texts = json.load(file)

# The automaton is built at the first call, which is not counted.
get_citations("Able v. Baker, 1 U.S. 1 (1999). Id. at 2.")

best, found = float("inf"), []
for _ in range(rounds):
    start = time.process_time()
    found = [get_citations(text) for text in texts]
    best = min(best, time.process_time() - start)

print(json.dumps({
    "version": importlib.metadata.version("eyecite"),
    "seconds": best,
    "found": [[[type(it).__name__, it.span()[0]] for it in list_] for list_ in found],
}))
