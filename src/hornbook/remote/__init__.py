"""Models behind endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.remote.endpoint import Endpoint, EndpointCounts
    from hornbook.remote.settings import EndpointSettings

__all__ = [
    "Endpoint",
    "EndpointCounts",
    "EndpointSettings",
]

__getattr__ = load_lazily(
    "hornbook.remote",
    {"endpoint": ["Endpoint", "EndpointCounts"], "settings": ["EndpointSettings"]},
)
