"""What a store does, one operation in one transaction each, over any engine.

They do the walking and the writing; what is decided is decided by the pure modules they call. SQLite runs the sync
form for both colours, since a transaction there is a plain function over one connection.
"""
