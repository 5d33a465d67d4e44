"""Models behind endpoints."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.remote.answer_cache import ask_anew
    from hornbook.remote.endpoint import Endpoint, EndpointCounts
    from hornbook.remote.predictor import find_classes
    from hornbook.remote.settings import EndpointSettings, is_url

__all__ = [
    "Endpoint",
    "EndpointCounts",
    "EndpointSettings",
    "ask_anew",
    "find_classes",
    "is_url",
]

__getattr__ = load_lazily(
    "hornbook.remote",
    {
        "answer_cache": ["ask_anew"],
        "endpoint": ["Endpoint", "EndpointCounts"],
        "predictor": ["find_classes"],
        "settings": ["EndpointSettings", "is_url"],
    },
)
