"""PostgreSQL as Django speaks to it, but for how a kept connection is tested, and for prepared statements (base.py)."""
