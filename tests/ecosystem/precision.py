"""How often a rule is right, by the verdicts of those who read its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ecosystem.digest import Entry

HEAD = ("rule", "findings", "true", "false", "debatable", "unread", "precision")


def table(entries: Iterable[Entry]) -> str:
    """One row for each rule, and one for all of them."""
    counts = Counter((entry.code, entry.verdict or "unread") for entry in entries)
    codes = sorted({code for code, _ in counts})
    rows = [HEAD, *(_row(code, Counter({v: n for (c, v), n in counts.items() if c == code})) for code in codes)]
    total: Counter[str] = Counter()
    for (_, verdict), number in counts.items():
        total[verdict] += number
    rows.append(_row("all", total))
    return "\n".join(f"{row[0]:8}" + "".join(f"{cell:>11}" for cell in row[1:]) for row in rows)


def _row(name: str, verdicts: Counter[str]) -> tuple[str, ...]:
    numbers = [verdicts[verdict] for verdict in HEAD[2:6]]
    return name, str(verdicts.total()), *map(str, numbers), precision(verdicts["true"], verdicts["false"])


def precision(right: int, wrong: int) -> str:
    """The share of what is right. Debatable and unread findings count for neither side; without any there is none."""
    return f"{right / (right + wrong):.0%}" if right + wrong else "-"
