"use strict";
// Commands that print the figures of a view from the stored files.
(() => {
  const quoted = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;
  const line = (...words) => ["orchestrator", ...words.filter((word) => word !== null && word !== "")].join(" ");
  const stored = () => bench.site.index.results;

  bench.commands = {
    quoted,
    every: (select) => line("report", "--all", ...select.flatMap((glob) => ["--select", quoted(glob)]), "--format", "csv", stored()),
    run: (run) => line("report", quoted(run), stored()),
    cell: (run, id) => line("report", quoted(run), "--select", quoted(id), "--format", "csv", stored()),
    repeats: (run, id) => line("show", quoted(run), quoted(id), stored()),
    again: (folder, run, id, runtime, repeats) => line("run", "-f", quoted(`${folder}/${run}/matrix.yaml`), "--select", quoted(id), "--repeats", repeats, "--runtime", quoted(runtime)),
    history: (name, metric, host) => line("history", "--select", quoted(name), "--metric", quoted(metric), host && "--host", host && quoted(host), "--format", "csv", stored()),
    compare: (one, other) => line("compare", quoted(one), quoted(other), stored()),
    search: (folder) => line("bisect", "--resume", quoted(folder), stored()),
  };
})();
