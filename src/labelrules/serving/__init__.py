"""SERVE: predict rows that come one at a time."""

from labelrules.serving.predictor import Prediction, Predictor

__all__ = ["Prediction", "Predictor"]
