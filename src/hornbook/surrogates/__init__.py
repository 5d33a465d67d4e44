"""Learns explanations from labelled samples: trees, score cards, rules, and the search over them."""

from hornbook.surrogates.grid import CodedRows, Grid
from hornbook.surrogates.samples import ExchangeTest, SampleSource
from hornbook.surrogates.search import (
    Candidate,
    Form,
    SearchResult,
    SearchSettings,
    choose_candidate,
    fit_explanations,
    search_explanations,
)

__all__ = [
    "Candidate",
    "CodedRows",
    "ExchangeTest",
    "Form",
    "Grid",
    "SampleSource",
    "SearchResult",
    "SearchSettings",
    "choose_candidate",
    "fit_explanations",
    "search_explanations",
]
