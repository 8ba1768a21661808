"""The frontier of latency and throughput."""
