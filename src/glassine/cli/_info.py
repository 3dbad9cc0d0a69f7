"""`glassine info`: what a store is and how much is in it."""

from __future__ import annotations

import click

from ._output import print_json, screen
from ._settings import settings, shared_options
from ._text import line, size


@click.command()
@shared_options
def info() -> None:
    """Say where the database is, and how much is in it.

    --json prints one object.
    """
    chosen = settings()
    with chosen.existing() as store:
        found = store.info()
    if chosen.json:
        print_json(
            {
                "location": found.location,
                "engine": found.engine,
                "engineVersion": found.engine_version,
                "schemaVersion": found.schema_version,
                "bytes": found.bytes,
                "namespace": found.namespace,
                "namespaces": list(found.namespaces),
                "sessions": found.sessions,
                "messages": found.messages,
            }
        )
        return
    others = [name for name in found.namespaces if name != found.namespace]
    rows = {
        "database": found.location,
        "engine": f"{found.engine} {found.engine_version}, schema version {found.schema_version}",
        "size": size(found.bytes),
        "namespace": found.namespace + (f" (others: {', '.join(others)})" if others else ""),
        "sessions": f"{found.sessions:,}",
        "messages": f"{found.messages:,}",
    }
    out = screen()
    for name, value in rows.items():
        out.print(f"{name:<11}{line(value)}")
