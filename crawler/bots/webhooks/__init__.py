"""Telling others what changed.

matching   which webhook wants which change
signing    how a receiver knows that it was us
messages   what is sent
courier    sending: many at once, each under a lease, none held up by another
"""
