"""The contract kit itself: see tests/_async/test_contract.py for what it finds."""

import inspect
from types import ModuleType

import pytest

from glassine.testing import CHECKS
from glassine.testing._async import running as running_async
from glassine.testing._expecting import equal, raises, true
from glassine.testing._sync import running


def test_both_colours_have_the_same_checks() -> None:
    assert running_async.CHECKS == running.CHECKS == CHECKS
    assert len(set(CHECKS)) == len(CHECKS) > 60


@pytest.mark.parametrize("module", [running, running_async])
def test_no_check_is_left_out(module: ModuleType) -> None:
    themes = [value for value in vars(module).values() if inspect.ismodule(value) and "testing" in value.__name__]
    assert {theme.__name__.rpartition(".")[2] for theme in themes} == {name.partition(".")[0] for name in CHECKS}


def test_what_is_expected_must_be_so() -> None:
    equal(1, 1)
    true([0], "a list with something")
    with raises(KeyError) as caught:
        raise KeyError("k")
    assert caught.error.args == ("k",)


def test_what_is_not_so_is_said() -> None:
    with pytest.raises(AssertionError, match="the answer should be 2 and is 1"):
        equal(1, 2, "the answer")
    with pytest.raises(AssertionError, match="not so: an empty list is something"):
        true([], "an empty list is something")
    with pytest.raises(AssertionError, match="KeyError was not raised"), raises(KeyError):
        pass
    with pytest.raises(ZeroDivisionError), raises(KeyError):
        1 / 0  # noqa: B018
