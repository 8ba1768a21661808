"""The options of `sbatch` that a site may add to those of the template."""

WITH_VALUE = frozenset({
    "batch", "bb", "begin", "comment", "core-spec", "cores-per-socket", "cpu-freq", "deadline",
    "delay-boot", "exclude", "extra", "gpu-bind", "gpu-freq", "gres-flags", "hint", "licenses", "mail-type",
    "mail-user", "network", "nice", "nodelist", "power", "prefer", "priority", "profile", "qos", "sockets-per-node",
    "switches", "thread-spec", "threads-per-core", "tmp", "wait-all-nodes", "wckey",
})  # fmt: skip
SWITCHES = frozenset({"contiguous", "no-kill", "reboot", "spread-job", "use-min-nodes"})
KNOWN = tuple(sorted(WITH_VALUE | SWITCHES))
OF_TEMPLATE = frozenset({
    "account", "array", "chdir", "constraint", "dependency", "error", "exclusive", "export", "gpus-per-node", "gres",
    "job-name", "mem", "mincpus", "nodes", "no-requeue", "ntasks-per-node", "output", "partition", "requeue",
    "reservation", "signal", "time",
})  # fmt: skip
"""Options that the template sets, from keys of the site file or by itself."""
ELSEWHERE = frozenset({"cluster", "clusters"})
"""Options that submit to another cluster, which `squeue`, `scancel` and `sacct` would not ask."""
