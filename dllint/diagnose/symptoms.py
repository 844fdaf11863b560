"""Rules by symptom: from an error text, or words out of one, to the rules that find its causes."""

from __future__ import annotations

import io
import re

from dllint.diagnose.advice import advice_on
from dllint.diagnose.classification import classify
from dllint.diagnose.inferred import OTHERS
from dllint.diagnose.reading import lines
from dllint.diagnose.signature import Signature
from dllint.diagnose.signatures import SIGNATURES
from dllint.patterns import pattern
from dllint.registry import registry
from dllint.rule import Rule

_CODE = pattern(r"\s*DLL\d+\s*", re.IGNORECASE)
_WORD = pattern(r"[a-z_]{4,}")
_SPACES = pattern(r"[\s`]+")
_LONG_ENOUGH = 8
"""Characters of a symptom that are looked for in the texts of signatures."""
_OTHER_WORDS = {
    "oom": "out of memory",
    "oomkilled": "out of memory",
    "oom killed": "out of memory",
    "segfault": "segmentation fault",
    "sigsegv": "segmentation fault",
    "sigbus": "bus error",
    "sigkill": "killed by signal: killed",
    "emfile": "too many open files",
    "enospc": "no space left on device",
    "freeze_support": "finished its bootstrapping phase",
    "deadlock": "hang",
    "stuck": "hang",
}
"""What people call it -> words of an error text or of the rules."""
_ENOUGH = 0.75
"""The share of the words that has to stand in a rule's documentation."""


def rules_about(symptom: str) -> list[Rule]:
    """The rules that `symptom` speaks of, best first: those that quote it, those behind its failure, those with its
    words.
    """
    symptom = _OTHER_WORDS.get(_plain(symptom), symptom)
    if _CODE.fullmatch(symptom) or not _plain(symptom):
        return []
    whole = re.compile(rf"(?<!\w){re.escape(_plain(symptom))}")
    quoting = [rule for rule in registry().values() if whole.search(_plain(rule.doc))]
    quoting.sort(key=lambda rule: not whole.search(_plain(rule.sections.get("Why it breaks workers", ""))))
    found = dict.fromkeys(rule.code for rule in quoting)
    found |= dict.fromkeys(_behind(symptom))
    return [registry()[code] for code in found or _with_words(symptom)]


def _behind(symptom: str) -> list[str]:
    """Codes of the rules that can cause the failure that the text tells of."""
    log = classify(lines(io.BytesIO(symptom.encode("utf-8", "replace"))))
    told = [each.signature for each in log.diagnoses]
    told += [each for each in (*SIGNATURES, *OTHERS) if each.name == _plain(symptom)]
    # Those that count in a traceback only: somebody who asks has seen it.
    told += [each for each in SIGNATURES if re.search(each.pattern, symptom) or _quotes(each, symptom)]
    return [code for signature in told[:1] for code in advice_on(signature).rules]


def _quotes(signature: Signature, symptom: str) -> bool:
    """Whether the symptom is a part of the text of a signature."""
    text = _plain(signature.pattern.replace("\\", ""))
    return len(_plain(symptom)) >= _LONG_ENOUGH and _plain(symptom) in text


def _with_words(symptom: str) -> list[str]:
    wanted = set(_WORD.findall(symptom.lower()))
    if not wanted:
        return []
    shares = {
        code: len(wanted & set(_WORD.findall(rule.doc.lower()))) / len(wanted) for code, rule in registry().items()
    }
    return sorted((code for code, share in shares.items() if share >= _ENOUGH), key=lambda code: -shares[code])


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip().lower()
