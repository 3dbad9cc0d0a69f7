"""The checks by theme: each public function of a module is one, named `<module>.<function>`."""
