"""Rules by symptom: from an error text, or words out of one, to the rules that find its causes."""

from __future__ import annotations

import io
import re

from dllint.diagnose.advice import advice_on
from dllint.diagnose.classification import classify
from dllint.diagnose.inferred import OTHERS
from dllint.diagnose.reading import lines
from dllint.diagnose.signatures import SIGNATURES
from dllint.registry import registry
from dllint.rule import Rule

_CODE = re.compile(r"\s*DLL\d+\s*", re.IGNORECASE)
_WORD = re.compile(r"[a-z_]{4,}")
_SPACES = re.compile(r"[\s`]+")
_ENOUGH = 0.75
"""The share of the words that has to stand in a rule's documentation."""


def rules_about(symptom: str) -> list[Rule]:
    """The rules that `symptom` speaks of, best first: those that quote it, those behind its failure, those with its
    words.
    """
    if _CODE.fullmatch(symptom):
        return []
    quoting = [rule for rule in registry().values() if _plain(symptom) in _plain(rule.doc)]
    quoting.sort(key=lambda rule: _plain(symptom) not in _plain(rule.sections.get("Why it breaks workers", "")))
    found = dict.fromkeys(rule.code for rule in quoting)
    found |= dict.fromkeys(_behind(symptom))
    return [registry()[code] for code in found or _with_words(symptom)]


def _behind(symptom: str) -> list[str]:
    """Codes of the rules that can cause the failure that the text tells of."""
    log = classify(lines(io.BytesIO(symptom.encode("utf-8", "replace"))))
    told = [each.signature for each in log.diagnoses[:1]]
    named = [each for each in (*SIGNATURES, *OTHERS) if each.name == _plain(symptom)]
    return [code for signature in told or named[:1] for code in advice_on(signature).rules]


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
