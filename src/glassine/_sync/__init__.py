# Generated from src/glassine/_async/__init__.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""The shell in asyncio's colour, written by hand. `_sync` is made from it."""
