"""The documentation site: pages made from the program, counts of its language, and a recording of a terminal."""
