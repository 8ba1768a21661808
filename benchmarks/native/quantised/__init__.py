"""Networks that compute in whole numbers of 8 bits."""
