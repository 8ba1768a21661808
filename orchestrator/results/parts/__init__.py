"""The parts of a result that some modes alone have, with what is wrong with those of a container."""
