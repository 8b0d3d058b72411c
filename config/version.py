"""Which program this is, for what it writes to be read elsewhere."""

VERSION = "0.1"
