"""Everything that answers a rendered prompt: remote models, and baselines without a model, behind one Protocol.

Pure: no Django. A client gets requests and yields exactly one outcome for each; what is stored, when something is
tried again and when a run stops is decided by the run engine (`evaluation.services.running`).
"""
