"use strict";
// The columns over all runs: a row is a cell of a run, and rows are in the order of the runs.
(() => {
  const OF_RUNS = ["host", "runtime", "matrix"];
  const TITLES = {
    model: "Model", framework: "Framework", label: "Release and options", version: "Version", backend: "Backend",
    variant: "Options", python: "Python", work: "Work", mode: "Mode", batch: "Batch size", dataset: "Dataset", feed: "Feed",
    scaling: "Scaling", size: "Model size", sizes: "Own sizes", scenario: "Load", rate: "Request rate", clients: "Clients",
    latency_limit: "Latency limit", prompt: "Prompt length", output: "Output length", system: "System", cpus: "CPUs", gpus: "GPUs",
    duration: "Duration", host: "Host", runtime: "Runtime", matrix: "Matrix",
  };
  // Together they are the work of a cell.
  const OF_WORK = ["model", "mode", "batch", "dataset", "feed", "scaling", "size", "sizes", "scenario", "rate", "clients", "latency_limit", "prompt", "output"];
  const text = (value) => String(value ?? "");

  bench.grouped = (each, keyOf) => {
    const groups = new Map();
    for (const one of each) {
      const key = keyOf(one);
      if (groups.has(key)) groups.get(key).push(one); else groups.set(key, [one]);
    }
    return groups;
  };

  bench.open = (index) => {
    const { runs, plans, cells } = index;
    const offset = [];
    let rows = 0;
    runs.plan.forEach((plan) => { offset.push(rows); rows += plans[plan].length; });
    const runOf = new Int32Array(rows);
    const cellOf = new Int32Array(rows);
    runs.plan.forEach((plan, run) => plans[plan].forEach((cell, place) => {
      runOf[offset[run] + place] = run;
      cellOf[offset[run] + place] = cell;
    }));
    const ended = new Map(index.ends.row.map((row, place) => [row, {
      ok: index.ends.ok[place], planned: index.ends.planned[place], disturbed: index.ends.disturbed[place],
      status: index.ends.status.of[index.ends.status.at[place]],
    }]));
    const apart = new Map(index.apart.map(([one, other, reason]) => [`${one} ${other}`, reason]));
    const metrics = new Map(index.metrics.map((metric) => [metric.name, metric]));
    const values = new Map();
    const idle = new Set(cells.idle);

    const site = { index, runs, offset, rows, runOf, cellOf, ended, metrics, idle };
    bench.site = site;
    site.titles = TITLES;
    site.ofWork = OF_WORK;
    site.isSmoke = (run) => runs.profile.of[runs.profile.at[run]] !== "";
    site.ofRun = (run, name) => runs[name].of[runs[name].at[run]];
    site.host = (run) => site.ofRun(run, "host");
    site.axis = (row, name) => OF_RUNS.includes(name) ? site.ofRun(runOf[row], name) : site.cellAxis(cellOf[row], name);
    site.cellAxis = (cell, name) => cells[name].of[cells[name].at[cell]];
    site.code = (row, name) => OF_RUNS.includes(name) ? runs[name].at[runOf[row]] : cells[name].at[cellOf[row]];
    site.valuesOf = (name) => OF_RUNS.includes(name) ? runs[name].of : cells[name].of;
    site.axes = Object.keys(TITLES).filter((name) => site.valuesOf(name));
    site.facets = site.axes.filter((name) => site.valuesOf(name).length > 1);
    site.apart = (one, other) => apart.get(`${Math.min(one, other)} ${Math.max(one, other)}`) ?? apart.get(`${Math.max(one, other)} ${Math.min(one, other)}`) ?? null;
    const others = [...new Set(cells.framework.of)].filter((name) => !bench.isNamed(name)).sort();
    site.look = (framework, line = 0) => bench.look(framework, line, others);
    site.cellLink = (row, text, attributes) =>
      bench.link(text ?? site.axis(row, "label"), "cell", { run: runs.run[runOf[row]], id: site.axis(row, "id") }, attributes);
    site.runNumber = (name) => runs.run.indexOf(name);
    site.rowOf = (run, id) => {
      const place = plans[runs.plan[run]].findIndex((cell) => site.cellAxis(cell, "id") === id);
      return place < 0 ? -1 : offset[run] + place;
    };
    site.rowsOf = (run) => Array.from({ length: plans[runs.plan[run]].length }, (_, place) => offset[run] + place);
    // The place of a row's release among all: a browser would take 2.0.0rc1 for newer than 2.0.0.
    site.release = (row) => cells.release_order[cells.version.at[cellOf[row]]];
    site.ofNewestRelease = (some) => {
      const newest = some.reduce((most, row) => Math.max(most, site.release(row)), -1);
      return some.filter((row) => site.release(row) === newest);
    };
    const releases = (name) => new Map(cells[name].at.map((code, cell) => [cells[name].of[code], [cells.framework.of[cells.framework.at[cell]], cells.release_order[cells.version.at[cell]]]]));
    const byText = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : text(a).localeCompare(text(b), "en", { numeric: true });
    site.sorted = (name) => {
      const every = [...new Set(site.valuesOf(name))];
      if (name !== "version" && name !== "label") return every.sort(byText);
      const of = releases(name);
      const byFramework = (a, b) => name === "label" ? byText(of.get(a)[0], of.get(b)[0]) : 0;
      return every.sort((a, b) => byFramework(a, b) || of.get(a)[1] - of.get(b)[1] || byText(a, b));
    };

    // A metric as these rows count it: the throughput of a generation is in tokens.
    site.counted = (metric, some) => {
      const samples = new Set(some.map((row) => site.cellAxis(cellOf[row], "sample")));
      const units = new Set([...samples].sort().map((sample) => bench.counting(metric, sample).unit));
      return units.size ? { ...metric, unit: [...units].join(" or ") } : metric;
    };

    site.figure = (metric, row, value) => bench.figure(site.counted(metric, [row]), value);

    // What depends on the runs alone is worked out once.
    const known = new Map();
    site.once = (name, make) => {
      if (!known.has(name)) known.set(name, make());
      return known.get(name);
    };

    // The values of a metric by row, NaN where there is none, with half the width of their intervals as logarithms.
    site.metric = (name) => {
      if (values.has(name)) return values.get(name);
      const file = index.files.metrics[name];
      if (!file) return Promise.reject(new Error(`no result has the metric ${name}`));
      const take = (column) => {
        const found = {
          v: Float64Array.from(column.v, (value) => value ?? NaN),
          e: Float64Array.from(column.e, (value) => value === null ? NaN : value / 1e4),
        };
        values.set(name, found);
        return found;
      };
      const column = bench.need(file);
      return column instanceof Promise ? column.then(take) : take(column);
    };

    // The rows that the filters of an address leave: `f.AXIS=value`, `from` and `to`. Smoke runs prove nothing, and are
    // left out without `smoke=yes`.
    site.filtered = (wanted) => {
      const tests = Object.entries(wanted).filter(([name]) => name.startsWith("f.")).map(([name, value]) => {
        const axis = name.slice(2);
        const codes = (site.valuesOf(axis) ?? []).map((each) => text(each) === value);
        return [axis, codes];
      });
      const from = wanted.from ?? "";
      const to = wanted.to ? `${wanted.to}~` : "~";
      const taken = runs.created.map((moment, run) => moment >= from && moment <= to && (wanted.smoke === "yes" || !site.isSmoke(run)));
      const left = [];
      for (let row = 0; row < rows; row += 1) {
        if (taken[runOf[row]] && tests.every(([axis, codes]) => codes[site.code(row, axis)])) left.push(row);
      }
      return left;
    };

    // Those of them that compute something.
    site.computing = (wanted) => site.filtered(wanted).filter((row) => !idle.has(cellOf[row]));

    // The newest row of each cell on each host; rows are in the order of time.
    site.newest = (left, extra = []) => {
      const found = new Map();
      for (const row of left) {
        found.set([cellOf[row], site.code(row, "host"), ...extra.map((axis) => site.code(row, axis))].join(" "), row);
      }
      return [...found.values()];
    };
    return site;
  };
})();
