"""The form of a bundle: its files, manifest, images, signature and base."""
