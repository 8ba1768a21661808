"""Exported networks: ONNX files of the user's own, read without any engine."""
