"""From a matrix, a bundle or a stored run to what is to be done."""
