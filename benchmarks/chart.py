"""Draw the chart of the README: agreement with the model against conditions to read, beside peers.

    python benchmarks/chart.py [docs]

It writes `agreement-light.svg` and `agreement-dark.svg` into the folder. The figures are those that
`benchmarks/frontier.py` printed on tables by which no setting was chosen, kept in
`benchmarks/measured/frontier-held-out.json` with their command.
"""

import argparse
import json
from pathlib import Path

import matplotlib
from matplotlib import pyplot

MEASURED = Path(__file__).parent / "measured" / "frontier-held-out.json"
THEMES = {  # text and axes, our line, the lines of the peers
    "light": ("#1f2328", "#0a5fd0", ("#9a6700", "#1a7f37", "#8250df", "#bf3989", "#6e7781")),
    "dark": ("#e6edf3", "#58a6ff", ("#d29922", "#3fb950", "#a371f7", "#f778ba", "#8b949e")),
}
LOWEST, HIGHEST = 77.0, 93.0  # per cent; a peer that stays below is not drawn
LABEL_GAP = 0.9  # per cent between the names at the ends of lines


def place_labels(ends: dict[str, float]) -> dict[str, float]:
    """Heights of the names of lines, from the top, with a gap between neighbours."""
    heights: dict[str, float] = {}
    above = float("inf")
    for name, end in sorted(ends.items(), key=lambda item: -item[1]):
        above = heights[name] = min(end, above - LABEL_GAP)
    return heights


def draw(theme: str, file: Path) -> None:
    """Draw the chart in the colours of a theme."""
    measured = json.loads(MEASURED.read_text("utf-8"))
    literals, agreement = measured["literals"], measured["agreement"]
    shown = {name: shares for name, shares in agreement.items() if max(shares) >= LOWEST}
    text, ours, peers = THEMES[theme]
    colours = dict(zip(shown, (ours, *peers), strict=True))
    labels = place_labels({name: shares[-1] for name, shares in shown.items()})
    figure, axes = pyplot.subplots(figsize=(8, 3.5), layout="constrained")
    for name, shares in shown.items():
        leads = name == "hornbook"
        axes.plot(literals, shares, "o-", color=colours[name], lw=2.6 if leads else 1.3, ms=5 if leads else 3)
        axes.text(33, labels[name], name, color=colours[name], va="center", weight=700 if leads else 400)
    axes.set(xticks=literals, xlim=(1, 40), ylim=(LOWEST, HIGHEST), xlabel="conditions to read")
    axes.set_ylabel("same answer as the model,\nheld-out rows, %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(text)
    axes.tick_params(colors=text)
    axes.xaxis.label.set_color(text)
    axes.yaxis.label.set_color(text)
    axes.grid(axis="y", color=text, alpha=0.15)
    figure.savefig(file, transparent=True, metadata={"Date": None})
    pyplot.close(figure)


def main() -> None:
    """Draw both charts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("docs"))
    folder = parser.parse_args().folder
    style = {"svg.hashsalt": "hornbook", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 11}
    matplotlib.rcParams.update(style)
    for theme in THEMES:
        draw(theme, folder / f"agreement-{theme}.svg")


if __name__ == "__main__":
    main()
