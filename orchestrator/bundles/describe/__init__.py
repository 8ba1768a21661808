"""Descriptions of images: bills of materials and provenance."""
