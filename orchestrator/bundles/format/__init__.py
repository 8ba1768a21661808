"""The files, the manifest, the images and the signature that make a bundle."""
