"use strict";
// Commands that print the figures of a view from the stored files.
(() => {
  const quoted = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;
  const line = (...words) => ["orchestrator", ...words.filter((word) => word !== null && word !== "")].join(" ");
  const stored = () => bench.site.index.results;
  // A glob that matches one name alone: `b2` is the beginning of `b200`, and names of series have stars.
  const exactly = (name) => quoted(String(name).replace(/[[*?]/g, "[$&]"));
  const selected = (ids) => ids.flatMap((id) => ["--select", exactly(id)]);

  // Runs of which the same cells are shown are printed by one command. A part of a run on a cluster has the name of the
  // whole run.
  const figures = (rows) => {
    const { site } = bench;
    const cells = new Map();
    for (const row of [...new Set(rows)].sort((a, b) => a - b)) {
      const run = site.runOf[row];
      const name = site.ofRun(run, "cluster") || site.runs.run[run];
      if (!cells.has(name)) cells.set(name, { ids: new Set(), every: new Set() });
      cells.get(name).ids.add(site.axis(row, "id"));
    }
    site.runs.run.forEach((name, run) => {
      const every = cells.get(site.ofRun(run, "cluster") || name)?.every;
      if (every) for (const row of site.rowsOf(run)) every.add(site.axis(row, "id"));
    });
    const alike = bench.grouped([...cells], ([, { ids, every }]) => ids.size === every.size ? "" : [...ids].join("\n"));
    return [...alike].map(([ids, runs]) => line("report", ...runs.map(([name]) => quoted(name)), ...selected(ids ? ids.split("\n") : []), "--format", "csv", stored())).join("\n");
  };

  bench.commands = {
    quoted,
    figures,
    run: (run) => line("report", quoted(run), stored()),
    cell: (run, id) => line("report", quoted(run), "--select", exactly(id), "--format", "csv", stored()),
    // The table of `show` has one rate for each repeat; blocks, steps and conditions are in its document.
    repeats: (run, id) => line("show", quoted(run), quoted(id), "--json", stored()),
    again: (folder, run, id, runtime, repeats) => line("run", "-f", quoted(`${folder}/${run}/matrix.yaml`), "--select", exactly(id), "--repeats", repeats, "--runtime", quoted(runtime)),
    history: (name, metric, host) => line("history", "--select", exactly(name), "--metric", quoted(metric), host && "--host", host && quoted(host), "--format", "csv", stored()),
    compare: (one, other, ids) => line("compare", quoted(one), quoted(other), ...selected(ids), stored()),
    // The runs of a search lie in its folder. `bisect --resume` would go on measuring.
    search: (folder) => line("report", "--all", "--format", "csv", "--results", quoted(`${bench.site.index.folder}/${folder}`)),
  };
})();
