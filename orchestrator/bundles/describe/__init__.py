"""Bills of materials and provenance of images."""
