"""The shell in asyncio's colour, written by hand. `_sync` is made from it."""
