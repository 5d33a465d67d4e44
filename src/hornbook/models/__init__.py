"""Models of any supported library as predictors, models from files, and training."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.models.adapters import as_predictor
    from hornbook.models.answer_check import AnswerCheck, note_changed_answers
    from hornbook.models.answered_classes import choose_form, find_answered_classes, read_table, view_class
    from hornbook.models.encoding import COMPLETE, ENCODINGS, Encoding
    from hornbook.models.loading import is_url, load_model, name_model_source, names_endpoint
    from hornbook.models.outputs import Floats, Output
    from hornbook.models.predictor import Predictor, columns_with_missing
    from hornbook.models.remote_model import RemoteModel, ask_anew
    from hornbook.models.row_sampler import RowSampler
    from hornbook.models.subject import Subject
    from hornbook.models.teacher import (
        ClassifierTeacher,
        bind_classifier,
        find_predictor,
        predict_two_classes,
    )
    from hornbook.models.time_limit import limit_model_seconds
    from hornbook.models.training import TrainedPipeline, train_pipeline

__all__ = [
    "COMPLETE",
    "ENCODINGS",
    "AnswerCheck",
    "ClassifierTeacher",
    "Encoding",
    "Floats",
    "Output",
    "Predictor",
    "RemoteModel",
    "RowSampler",
    "Subject",
    "TrainedPipeline",
    "as_predictor",
    "ask_anew",
    "bind_classifier",
    "choose_form",
    "columns_with_missing",
    "find_answered_classes",
    "find_predictor",
    "is_url",
    "limit_model_seconds",
    "load_model",
    "name_model_source",
    "names_endpoint",
    "note_changed_answers",
    "predict_two_classes",
    "read_table",
    "train_pipeline",
    "view_class",
]

__getattr__ = load_lazily(
    "hornbook.models",
    {
        "adapters": ["as_predictor"],
        "answer_check": ["AnswerCheck", "note_changed_answers"],
        "answered_classes": ["choose_form", "find_answered_classes", "read_table", "view_class"],
        "encoding": ["COMPLETE", "ENCODINGS", "Encoding"],
        "loading": ["is_url", "load_model", "name_model_source", "names_endpoint"],
        "outputs": ["Floats", "Output"],
        "predictor": ["Predictor", "columns_with_missing"],
        "remote_model": ["RemoteModel", "ask_anew"],
        "row_sampler": ["RowSampler"],
        "subject": ["Subject"],
        "teacher": ["ClassifierTeacher", "bind_classifier", "find_predictor", "predict_two_classes"],
        "time_limit": ["limit_model_seconds"],
        "training": ["TrainedPipeline", "train_pipeline"],
    },
)
