"""Images of ours in a registry: pushed under their content tags, and pulled by digest in place of a build."""
