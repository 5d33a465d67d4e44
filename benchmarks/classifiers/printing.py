"""Measurements as tables: our curve, who is above it, and what everything costs."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from rich.table import Table as Printed

from classifiers.measuring import BUDGETS

CLEARLY = 0.005
"""A peer counts as above our curve if it is more faithful by half a percentage point, on average."""

LEARNED = ("its on samples like those learned from", "ours")


def overview(frame: pd.DataFrame) -> Printed:
    """Ours, and in brackets the best of all peers with no more literals, at every budget."""
    seeds = frame.seed.nunique()
    printed = Printed(title=f"fidelity on held-out rows, of ours (of the best peer); mean over {seeds} seeds")
    for column in ("table, model", *map(str, BUDGETS)):
        printed.add_column(column)
    for (table, model), part in frame.groupby(["table", "model"], sort=False):
        cells = [
            f"{ours.fidelity.mean():.1%} ({best.fidelity:.1%})"
            if best is not None
            else f"{ours.fidelity.mean():.1%}"
            for _, ours, best in _budgets(part)
        ]
        printed.add_row(f"{table}, {model}", *cells)
    return printed


def curves(frame: pd.DataFrame) -> Printed:
    """Our curve beside the most faithful peer at each number of literals."""
    printed = Printed(title="fidelity on held-out rows, by literals read (mean over seeds)")
    for column in (
        "table",
        "model",
        "literals",
        "hornbook",
        "balanced",
        "form",
        "undetermined",
        "best peer",
        "its fidelity",
    ):
        printed.add_column(column)
    for (table, model), part in frame.groupby(["table", "model"], sort=False):
        for budget, row, best in _budgets(part):
            printed.add_row(
                str(table),
                str(model),
                str(budget),
                f"{row.fidelity.mean():.1%}",
                f"{row.balanced.mean():.1%}",
                "/".join(sorted(set(row.form))),
                f"{row.undetermined.mean():.1%}",
                "" if best is None else best.name[0],
                "" if best is None else f"{best.fidelity:.1%}",
            )
    return printed


def _budgets(part: pd.DataFrame) -> Iterator[tuple[int, pd.DataFrame, pd.Series | None]]:
    """For each number of literals ours, and the best point of a peer that fits on average over seeds."""
    ours, peers = part[part.who == "hornbook"], part[part.form == "peer"]
    mean = peers.groupby(["who", "size"])[["literals", "fidelity"]].mean()
    for budget in BUDGETS:
        fits = mean[mean.literals <= budget]
        best = fits.loc[fits.fidelity.idxmax()] if len(fits) else None
        yield budget, ours[ours["size"] == budget], best


def above(frame: pd.DataFrame) -> Printed:
    """Every peer that is above our curve: more faithful than ours with no more literals.

    Fidelity to samples like those learned from says whether the peer is better at what it was
    asked to learn, or what it learned holds better of other rows.
    """
    printed = Printed(
        title=f"peers above our curve by {CLEARLY:.1%} or more (mean over seeds, ours with no more literals)"
    )
    for column in ("table", "model", "peer", "literals", "its fidelity", "ours", "above by", *LEARNED):
        printed.add_column(column)
    for name, peer, ours in _pairs(frame):
        ahead = peer.fidelity.mean() - ours.fidelity.mean()
        if ahead >= CLEARLY:
            printed.add_row(
                *name,
                f"{peer.literals.mean():.0f}",
                f"{peer.fidelity.mean():.1%}",
                f"{ours.fidelity.mean():.1%}",
                f"{ahead:.1%}",
                f"{peer.learned.mean():.1%}",
                f"{ours.learned.mean():.1%}",
            )
    return printed


def _pairs(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame, pd.DataFrame]]:
    """Each point of a peer over seeds, and what ours says with as many literals."""
    for (table, model, who, size), peer in frame[frame.form == "peer"].groupby(
        ["table", "model", "who", "size"], sort=False
    ):
        same = (frame.table == table) & (frame.model == model) & (frame["size"] == size)
        yield (str(table), str(model), str(who)), peer, frame[same & (frame.who == f"against {who}")]


def costs(frame: pd.DataFrame) -> Printed:
    """What an explanation costs: all of our curve, and each of the peers' points."""
    printed = Printed(title="cost of an explanation (ours: the whole curve; peers: their largest)")
    for column in ("who", "CPU-seconds, median", "most", "labels asked for"):
        printed.add_column(column)
    for who, part in frame[~frame.who.str.startswith("against")].groupby("who", sort=False):
        largest = part[part["size"] == part["size"].max()]
        printed.add_row(
            str(who),
            f"{largest.cpu_seconds.median():.1f}",
            f"{largest.cpu_seconds.max():.1f}",
            f"{largest.labels.max():,}",
        )
    return printed
