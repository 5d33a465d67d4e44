"""Questions about a model in one call each, for tests that ask a new model every time."""

from hornbook import Explainer


def explain(model, rows, target="label", *, seed=0, code_book=None, groups=None, **options):
    """What `Explainer.extract` says of a model."""
    explainer = Explainer(model, rows, target=target, seed=seed, code_book=code_book, groups=groups)
    return explainer.extract(**options)


def why(model, row, rows, target="label", *, seed=0, code_book=None, **options):
    """What `Explainer.why` says of a row, in more time than it takes, however busy the machine is."""
    options = {"seconds": 60.0, **options}
    return Explainer(model, rows, target=target, seed=seed, code_book=code_book).why(row, **options)


def why_table(model, rows, target="label", *, seed=0, **options):
    """What `Explainer.why_table` says of rows."""
    return Explainer(model, rows, target=target, seed=seed).why_table(**options)


def find_changes(model, row, rows, target="label", *, code_book=None, **options):
    """What `Explainer.changes` says of a row."""
    return Explainer(model, rows, target=target, code_book=code_book).changes(row, **options)


def check(claims, model, rows, target="label", *, seed=0, code_book=None, **options):
    """What `Explainer.check` says of claims."""
    return Explainer(model, rows, target=target, seed=seed, code_book=code_book).check(claims, **options)


def diff(model, other, rows, target="label", *, seed=0, code_book=None, groups=None, **options):
    """What `Explainer.diff` says of two models."""
    explainer = Explainer(model, rows, target=target, seed=seed, code_book=code_book, groups=groups)
    return explainer.diff(other, **options)
