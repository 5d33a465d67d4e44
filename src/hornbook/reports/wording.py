"""Guarantees and figures in words that need no logic to be understood."""

from __future__ import annotations

from hornbook.intervals import Share
from hornbook.queries import Estimated, Exact, Guarantee, Pac, Proved, Unknown


def percent(share: float) -> str:
    """A share in percent, with the digits that a reader can use.

    Examples
    --------
    >>> percent(0.98765), percent(0.0042), percent(1.0), percent(0.99996), percent(float("nan"))
    ('98.8 %', '0.42 %', '100 %', '99.996 %', '–')

    """
    if share != share:
        return "–"
    nearest = min(share, 1 - share)
    if nearest <= 0:
        return f"{100 * share:.0f} %"
    digits = 1 if nearest >= 0.01 else 2 if nearest >= 0.0001 else 3
    return f"{100 * share:.{digits}f} %"


def interval(share: Share) -> str:
    """The interval of a share.

    Examples
    --------
    >>> interval(Share.of(980, 1000))
    '96.9 to 98.8 %'
    >>> interval(Share.of(0, 0))
    'not measured'

    """
    return (
        f"{percent(share.low).removesuffix(' %')} to {percent(share.high)}" if share.size else "not measured"
    )


def short(number: int) -> str:
    """A count that a reader takes in at a glance.

    Examples
    --------
    >>> short(845), short(12_345), short(1_897_739), short(3_200_000_000)
    ('845', '12,345', '1.9 million', '3.2 billion')

    """
    for size, name in ((10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.1f} {name}"
    return f"{number:,}"


def signed(points: int) -> str:
    """Points with their sign.

    Examples
    --------
    >>> signed(3), signed(0), signed(-2)
    ('+3', '0', '−2')

    """
    return f"{points:+d}".replace("-", "−") if points else "0"


def duration(seconds: float) -> str:
    """A time in the units that suit it.

    Examples
    --------
    >>> duration(0.25), duration(16.9), duration(125), duration(7300)
    ('0.2 s', '17 s', '2 min 5 s', '2 h 1 min')

    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    hours, spare = divmod(minutes, 60)
    return f"{hours} h {spare} min" if hours else f"{minutes} min {rest} s"


PROMISES = {
    "exact": "exact",
    "proved": "proved",
    "pac": "probably, approximately",
    "estimated": "measured",
    "none": "no promise",
}
"""For a kind of guarantee, a word or two."""


def meaning(guarantee: Guarantee) -> str:
    """What a guarantee means, for a reader who has never heard of it.

    Examples
    --------
    >>> from textwrap import fill
    >>> print(fill(meaning(Pac(0.05, 0.1, "rows like yours")), 105))
    If the whole extraction were repeated many times, in at least 90 % of the repetitions the rules and the
    model would give different answers in no more than 5 of 100 cases like those below. It says nothing about
    cases of another kind.

    """
    match guarantee:
        case Exact():
            return "The rules and the model give the same answer in every possible case."
        case Proved():
            return "It was proved, not sampled: the rules and the model give the same answer for every input."
        case Pac(epsilon, delta, _):
            return (
                "If the whole extraction were repeated many times, in at least "
                f"{100 * (1 - delta):g} % of the repetitions the rules and the "
                f"model would give different answers in no more than {100 * epsilon:g} of 100 cases like "
                "those below. It says nothing about cases of another kind."
            )
        case Estimated(disagreement, _):
            return (
                f"On {disagreement.size:,} fresh cases that the extraction never used, rules and model gave "
                f"different answers in {percent(disagreement.estimate)}. The true share lies, with "
                f"{100 * disagreement.confidence:g} % confidence, between {percent(disagreement.low)} and "
                f"{percent(disagreement.high)}, for cases like those below and for no others."
            )
        case Unknown(reason):
            return f"Nothing is promised: {reason}. Treat the rules as suggestions."
