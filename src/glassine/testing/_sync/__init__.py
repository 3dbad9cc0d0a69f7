# Generated from src/glassine/testing/_async/__init__.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""The checks by theme: each public function of a module is one, named `<module>.<function>`."""
