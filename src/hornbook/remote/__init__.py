"""Models behind endpoints, and language models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.remote.endpoint import Endpoint, EndpointCounts
    from hornbook.remote.language import LocalLanguageModel, open_model
    from hornbook.remote.settings import EndpointSettings, Sentence

__all__ = [
    "Endpoint",
    "EndpointCounts",
    "EndpointSettings",
    "LocalLanguageModel",
    "Sentence",
    "open_model",
]

__getattr__ = load_lazily(
    "hornbook.remote",
    {
        "endpoint": ["Endpoint", "EndpointCounts"],
        "language": ["LocalLanguageModel", "open_model"],
        "settings": ["EndpointSettings", "Sentence"],
    },
)
