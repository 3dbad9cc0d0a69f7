"""What every store must do, as checks that anyone who writes or runs a store can call.

    from glassine.testing import check_store

    def test_my_store():
        check_store(lambda: MyStore(...))

`make_store` is called once for each check. It returns a store whose namespace holds nothing yet; the check closes it.
All checks are run; `StoreCheckError` then names each that failed. `only` picks one by its name in `CHECKS`, or
several by a pattern (`"appending.*"`), so that a test runner can show each as a test of its own.

`FakeProvider` is another kind of help: the APIs of model providers on a local port, strict and scripted
(docs/how-to/fake-provider.md).
"""

from ._async.running import check_store_async
from ._expecting import StoreCheckError
from ._sync.running import CHECKS, check_store
from .provider import Call, Cut, Failure, FakeProvider, Received, Text, Thinking, Wait

__all__ = [
    "CHECKS",
    "Call",
    "Cut",
    "Failure",
    "FakeProvider",
    "Received",
    "StoreCheckError",
    "Text",
    "Thinking",
    "Wait",
    "check_store",
    "check_store_async",
]
