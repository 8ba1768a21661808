"""The host that workflows run on."""
