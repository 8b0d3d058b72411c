"""PostgreSQL as Django speaks to it, but for how a kept connection is tested (base.py)."""
