"""The watch over many nights: its heartbeat, the quiet of its rig, and what its alarms were worth."""
