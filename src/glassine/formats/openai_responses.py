# stub-lead
from typing import Any


class Stream: ...
