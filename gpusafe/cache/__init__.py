"""Verdicts of earlier runs, by the content of all that they depend on.

A key is a hash of the whole unit (its IR, its launches, the places of both) and of gpusafe itself, so that nothing has
to be invalidated: what changed has another key. Whatever is wrong with the cache costs time, never a verdict.
"""
