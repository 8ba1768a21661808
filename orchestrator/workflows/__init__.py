"""The work of every command without a terminal, as functions of options and a host that return values."""
