"""The child process of `spread`: JSON lines in, JSON lines out. Imports no Django.

First line: the scorer. Every further line is one pair [answer, gold answers]; each gets one line [value, note], flushed
at once, so that the parent can tell how far it got.
"""

import json
import sys

from evaluation.scorers import get_scorer


def main() -> int:
    scored = get_scorer(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        answer, gold = json.loads(line)
        score = scored(answer, gold)
        sys.stdout.write(json.dumps([score.value, score.note]) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
