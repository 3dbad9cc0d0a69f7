"""The command line: `glassine`.

Each command is a module with a function of its name; what it needs of rich is imported when it runs.
"""

from __future__ import annotations

import click

import glassine

from ._blocks import blocks
from ._checking import repair, verify
from ._compacting import compact
from ._copying import copy
from ._errors import Group
from ._importing import import_
from ._info import info
from ._migrating import migrate
from ._overlays import overlays, undo
from ._prompt import prompt
from ._reindexing import reindex
from ._search import search
from ._sessions import sessions
from ._settings import shared_options
from ._show import show
from ._skills import skills
from ._tokens import tokens

__all__ = ["main"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(glassine.__version__, prog_name="glassine", message="%(prog)s %(version)s")
@shared_options
def main() -> None:
    """Conversations of agents, stored once and never destroyed.

    Begin with `glassine import`, which reads the transcripts of your coding agent; then `glassine sessions` lists
    the conversations, `glassine show` prints one, and `glassine search` finds what was said.

    \b
    Exit codes:
      0  everything is fine
      1  problems were found; nothing was found, or could be imported; no summary came about
      2  the command was called in a wrong way
      3  no such session, message, block, skill, overlay or database
      4  the database cannot be used (busy, full, newer, not ours)
    """


for _command in (
    *(import_, sessions, show, search, tokens),
    *(blocks, prompt, skills),
    *(compact, overlays, undo),
    *(verify, repair, reindex, migrate, copy, info),
):
    main.add_command(_command)
