"""Why arguments or a result do not go through: the two kinds, with one shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from homeport.ground.reason import Reason


@dataclass(frozen=True, slots=True)
class Violation:
    """Not what the locked schema allows. Nothing was decided by policy."""

    text: str
    """One sentence for the caller: what is wrong, where, what is expected."""
    reason: Reason
    """The operator's; `rule` is `schema.<keyword>`, `arguments.<what>` or `output.<keyword>`."""
    path: str = ""
    """Of the value, as a selector (`a.b[2]`); empty: the arguments as a whole."""
    keyword: str = ""
    """The schema keyword that failed (`required`, `enum`, …)."""
    expected: str = ""

    @property
    def details(self) -> Mapping[str, str]:
        """What a caller may read as data: `path`, `keyword`, `expected`."""
        return {"path": self.path, "keyword": self.keyword, "expected": self.expected}


@dataclass(frozen=True, slots=True)
class Objection:
    """A rule of the policy fired: a pin, restrict, deny, allow, post_call or fail_when."""

    text: str
    """One sentence for the caller: names the sentence of the policy that fired."""
    reason: Reason
    """The operator's; `rule` is `rule.pin`, `rule.restrict`, `rule.deny`, `rule.allow`, `rule.post_call`."""
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    """`selector`, and `pattern` (its index, from 0) where one pattern decided."""
