"""What must not leave a log: the values of keys, tokens and passwords in the lines that are shown."""

from __future__ import annotations

from dllint.patterns import pattern

_MASK = "***"
_NAMED = pattern(
    r"""(?ix)
    (?P<key> (?: api[_-]?key | access[_-]?key(?:[_-]?id)? | secret(?:[_-]?\w{1,40})? | token | passw(?:or)?d
      | passphrase | credentials? | private[_-]?key | authorization | auth[_-]?key ) ["']? \s* [=:] \s* )
    (?P<scheme> (?:Bearer|Basic|Token) \s+ )?
    (?P<value> "[^"]*" | '[^']*' | [^\s,;&"']+ )
    """
)
_SHORT_NAMED = pattern(
    r"""(?ix)
    (?<![a-z0-9]) (?P<key> (?: pwd | pass | (?:x-\w{1,10}-)? sig(?:nature)? | session(?:[_-]?id)? ) = )
    (?P<value> "[^"]*" | '[^']*' | [^\s,;&"']+ )
    """
)
"""Words that other texts hold as well: a forward pass, a signature. Only what follows the sign at once is a value."""
_FLAG = pattern(
    r"""(?ix)
    (?<![\w-]) (?P<flag> --? (?:[\w-]{1,40}[_-])? (?: token | secret | passw(?:or)?d | pass | pwd | passphrase
      | (?:api|access|secret|private|auth)[_-]?key | credentials? ) ) (?P<space> \s+ )
    (?P<value> "[^"]*" | '[^']*' | (?!-)[^\s"']+ )
    """
)
_COOKIE = pattern(
    r"""(?ix)
    (?P<key> \b (?:set-)? cookie ["']? \s* [=:] \s* )
    (?P<value> "[^"]*" | '[^']*' | [^\s;,"']+ (?: ; \s* [^\s;,="']+ (?: =[^\s;,"']* )? )* )
    """
)
_PRIVATE_KEY = pattern(r"(?s)(BEGIN(?: [A-Z0-9]{1,20}){0,3} PRIVATE KEY(?: BLOCK)?-*).+?(?=-+END |\Z)")
_BARE = pattern(
    r"""(?x)
    (?<![A-Za-z0-9]) (?:
      (?:AKIA|ASIA)[A-Z0-9]{16}
      | (?:hf|api_org)_[A-Za-z0-9]{8,}
      | gh[pousr]_[A-Za-z0-9]{8,} | github_pat_\w{8,} | glpat-[\w-]{8,}
      | sk-[\w-]{16,} | xox[abprs]-[\w-]{8,} | AIza[\w-]{20,} | npm_[A-Za-z0-9]{20,} | pypi-[\w-]{20,}
      | eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?
      | [0-9a-f]{40} | [0-9a-f]{64}
    ) (?![A-Za-z0-9])
    """
)
_BEARER = pattern(r"(?i)\b(Bearer|Basic)\s+[\w.~+/=-]{8,}")
_IN_URL = pattern(r"(?i)\b([a-z][a-z0-9+.-]{0,30}://[^\s/:@]*):[^\s/@]+@")
_USER_TOKEN_IN_URL = pattern(r"(?i)\b([a-z][a-z0-9+.-]{0,30}://)[\w-]{20,}@")


def masked(text: str) -> str:
    """`text` with the values of key-like words and options, cookies, private keys, signatures and passwords in URLs and
    tokens of known shapes replaced.
    """
    text = _IN_URL.sub(rf"\1:{_MASK}@", text)
    text = _USER_TOKEN_IN_URL.sub(rf"\1{_MASK}@", text)
    text = _PRIVATE_KEY.sub(rf"\1 {_MASK}", text)
    text = _COOKIE.sub(rf"\g<key>{_MASK}", text)
    text = _FLAG.sub(rf"\g<flag>\g<space>{_MASK}", text)
    text = _SHORT_NAMED.sub(rf"\g<key>{_MASK}", text)
    text = _NAMED.sub(lambda found: f"{found['key']}{found['scheme'] or ''}{_MASK}", text)
    text = _BEARER.sub(rf"\1 {_MASK}", text)
    return _BARE.sub(_MASK, text)
