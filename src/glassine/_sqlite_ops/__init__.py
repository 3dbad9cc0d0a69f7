"""What the store does, as plain functions over one SQLite connection, each inside one transaction.

They do the walking and the writing; what is decided is decided by the pure modules they call.
"""
