"""Models of any supported library as predictors, models from files, and training."""

from typing import TYPE_CHECKING

from hornbook.lazy import load_lazily

if TYPE_CHECKING:
    from hornbook.models.adapters import as_predictor
    from hornbook.models.answers import AnswerCheck, ask_anew, note_changed_answers
    from hornbook.models.classes import find_predictor, match_classes, predict_two_classes
    from hornbook.models.inputs import COMPLETE, ENCODINGS, Encoding, columns_with_missing, make_missing
    from hornbook.models.loading import is_url, load_model, name_model_source, names_endpoint
    from hornbook.models.notes import note_accuracy, note_columns, note_cut, note_levels, note_size
    from hornbook.models.outputs import Floats
    from hornbook.models.predictor import Predictor, RemoteModel
    from hornbook.models.row_sampler import RowSampler
    from hornbook.models.subject import Subject
    from hornbook.models.teacher import ClassifierTeacher, bind_classifier
    from hornbook.models.training import TrainedPipeline, train_pipeline

__all__ = [
    "COMPLETE",
    "ENCODINGS",
    "AnswerCheck",
    "ClassifierTeacher",
    "Encoding",
    "Floats",
    "Predictor",
    "RemoteModel",
    "RowSampler",
    "Subject",
    "TrainedPipeline",
    "as_predictor",
    "ask_anew",
    "bind_classifier",
    "columns_with_missing",
    "find_predictor",
    "is_url",
    "load_model",
    "make_missing",
    "match_classes",
    "name_model_source",
    "names_endpoint",
    "note_accuracy",
    "note_changed_answers",
    "note_columns",
    "note_cut",
    "note_levels",
    "note_size",
    "predict_two_classes",
    "train_pipeline",
]

__getattr__ = load_lazily(
    "hornbook.models",
    {
        "adapters": ["as_predictor"],
        "answers": ["AnswerCheck", "ask_anew", "note_changed_answers"],
        "classes": ["find_predictor", "match_classes", "predict_two_classes"],
        "inputs": ["COMPLETE", "ENCODINGS", "Encoding", "columns_with_missing", "make_missing"],
        "loading": ["is_url", "load_model", "name_model_source", "names_endpoint"],
        "notes": ["note_accuracy", "note_columns", "note_cut", "note_levels", "note_size"],
        "outputs": ["Floats"],
        "predictor": ["Predictor", "RemoteModel"],
        "row_sampler": ["RowSampler"],
        "subject": ["Subject"],
        "teacher": ["ClassifierTeacher", "bind_classifier"],
        "training": ["TrainedPipeline", "train_pipeline"],
    },
)
