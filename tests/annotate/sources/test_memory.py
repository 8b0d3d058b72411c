"""Ten times the records, the same memory."""

import subprocess
import sys

import pytest

PROGRAM = """
import io, json, resource, sys
from annotate.sources.detect import detect
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping, apply
from annotate.sources.reading import read_records

class Endless(io.RawIOBase):
    '''A file that is never in memory: its records are made as they are read.'''
    def __init__(self, n_records, head, tail, between):
        self.n_records, self.head, self.tail, self.between = n_records, head, tail, between
        self.seek(0)
    def readable(self): return True
    def seekable(self): return True
    def seek(self, offset, whence=0):
        self.pieces, self.rest = self.parts(), b""
        self.read(offset)
        return offset
    def parts(self):
        yield self.head
        for n in range(self.n_records):
            yield (self.between if n else b"") + RECORD(n)
        yield self.tail
    def read(self, size=-1):
        parts = [self.rest]
        length = len(self.rest)
        while length < size:
            piece = next(self.pieces, None)
            if piece is None:
                break
            parts.append(piece)
            length += len(piece)
        data = b"".join(parts)
        self.rest = data[size:]
        return data[:size]

def json_record(n):
    return json.dumps({"id": str(n), "q": f"{n} " * 60, "v": "yes", "domain": str(n % 7)}).encode()

def csv_record(n):
    return f'{n},"{f"{n} " * 60}",yes,{n % 7}'.encode()

FORMATS = {
    "jsonl": (b"", b"", b"\\n", json_record),
    "json": (b"[", b"]", b",", json_record),
    "csv": (b"id,q,v,domain\\n", b"", b"\\n", csv_record),
}
head, tail, between, RECORD = FORMATS[sys.argv[1]]
file = Endless(int(sys.argv[2]), head, tail, between)
mapping = Mapping(
    (ContentColumn("q", "q"),), "id", gold=(GoldColumn("label", "v", {"yes": "yes"}),), strata=("domain",)
)
n = sum(1 for record in read_records(file, detect(file, "x." + sys.argv[1])) if apply(mapping, record))
print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kib(format_name: str, n_records: int) -> int:
    command = [sys.executable, "-c", PROGRAM, format_name, str(n_records)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    n_read, peak = map(int, done.stdout.split())
    assert n_read == n_records
    return peak


@pytest.mark.parametrize("format_name", ["jsonl", "json", "csv"])
def test_memory_does_not_grow_with_the_number_of_records(format_name):
    growth = peak_kib(format_name, 100_000) - peak_kib(format_name, 10_000)
    assert growth < 4 * 1024, f"{growth} KiB more for ten times the records"
