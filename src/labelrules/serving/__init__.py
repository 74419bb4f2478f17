"""SERVE: predict rows that come one at a time, or from file to file."""

from labelrules.serving.predictor import Prediction, Predictor
from labelrules.serving.streaming import evaluate_file, predict_file

__all__ = ["Prediction", "Predictor", "evaluate_file", "predict_file"]
