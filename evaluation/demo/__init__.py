"""The demonstration: sample people who answer over HTTP like anybody with a browser without scripts."""
