"""What every other room stands on: settings, ids, the database's clock, leases, errors, logs.

Imports nothing of the project; everything may import it.
"""
