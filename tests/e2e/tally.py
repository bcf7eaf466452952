"""Counts the checks of a client and prints the ones that fail."""

import sys


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, holds, told=None):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: {told}", file=sys.stderr)
        return holds
