"""Generation by native layers, with keys and values of the framework's kind."""
