"use strict";
// Ratios to a baseline, between cells that differ in the compared axis alone.
(() => {
  const OF_SOFTWARE = {
    framework: [], label: [], version: ["framework", "variant"], backend: ["framework", "version", "variant"],
    variant: ["framework", "version", "backend", "python"], python: ["label"],
  };

  // What two cells must share to be compared along an axis. The Python of releases is looked at later: old ones and new
  // ones may have none in common.
  const shared = (axis) => {
    if (axis in OF_SOFTWARE) return ["work", "system", "host", ...OF_SOFTWARE[axis]];
    if (axis === "host" || axis === "runtime" || axis === "matrix") return ["id", "python", ...["host", "runtime"].filter((each) => each !== axis)];
    if (["system", "cpus", "gpus"].includes(axis)) return ["label", "python", "work", "host"];
    return ["label", "python", "system", "host", ...bench.site.ofWork.filter((each) => each !== axis && axis !== "work")];
  };

  // Of several releases of a framework in one context the newest, and of its options the default ones if they are there.
  const narrowed = (rows) => {
    const left = bench.site.ofNewestRelease(rows);
    const plain = left.filter((row) => bench.site.axis(row, "variant") === "");
    return plain.length ? plain : left;
  };

  const byPython = (rows) => bench.grouped(rows, (row) => bench.site.axis(row, "python"));

  // The rows of two sides that are compared: those of each Python that both have or, if there is none, those of the newest
  // Python of each, which then are said.
  bench.ofOnePython = (one, other) => {
    const [ours, theirs] = [byPython(one), byPython(other)];
    const common = [...ours.keys()].filter((python) => theirs.has(python));
    if (common.length) return common.map((python) => ({ one: ours.get(python), other: theirs.get(python), pythons: null }));
    const [a, b] = [ours, theirs].map((pythons) => [...pythons.keys()].sort((x, y) => String(x).localeCompare(String(y), "en", { numeric: true })).at(-1));
    return [{ one: ours.get(a), other: theirs.get(b), pythons: [a, b] }];
  };
  bench.pythons = (pair) => pair.pythons && bench.h("small", {}, `Python ${pair.pythons[0] || "unknown"} to ${pair.pythons[1] || "unknown"}`);

  // All that a heat map shows: for each row and column the contexts with both the column and the baseline.
  bench.grid = (rows, cols, column, wanted) => {
    const { site } = bench;
    const runAxis = ["runtime", "matrix"].filter((axis) => axis === cols || axis === rows);
    const left = site.newest(site.computing(wanted), runAxis);
    const context = [...new Set([...shared(cols), rows])].filter((axis) => axis !== cols);
    const groups = new Map();
    const failed = new Map();
    for (const row of left) {
      const known = column.v[row] > 0;
      const where = `${site.code(row, rows)}|${site.code(row, cols)}`;
      if (!known) {
        const ended = site.ended.get(row);
        if (ended && ended.ok === 0) failed.set(where, [...(failed.get(where) ?? []), row]);
        continue;
      }
      const key = context.map((axis) => site.code(row, axis)).join(" ");
      if (!groups.has(key)) groups.set(key, { of: site.code(row, rows), by: new Map() });
      const by = groups.get(key).by;
      const of = site.code(row, cols);
      if (!by.has(of)) by.set(of, []);
      by.get(of).push(row);
    }
    for (const group of groups.values()) {
      if (cols === "framework") for (const [of, members] of group.by) if (members.length > 1) group.by.set(of, narrowed(members));
    }
    return { rows, cols, groups: [...groups.values()], failed, column };
  };

  const mean = (members, column) => {
    let log = 0, width = 0;
    for (const row of members) { log += Math.log(column.v[row]); width += (column.e[row] || 0) ** 2; }
    const missing = members.some((row) => Number.isNaN(column.e[row]));
    return { log: log / members.length, width: missing ? NaN : Math.sqrt(width) / members.length };
  };

  // One pair of sides: the ratio, half the width of its interval as a logarithm, and why it is none.
  bench.pair = (members, base, column) => {
    const { site } = bench;
    for (const one of members) for (const other of base) {
      const reason = site.apart(site.cellOf[one], site.cellOf[other]);
      if (reason !== null) return { apart: reason, members, base };
    }
    const [a, b] = [mean(members, column), mean(base, column)];
    return { log: a.log - b.log, width: Math.hypot(a.width, b.width), members, base };
  };

  bench.together = (pairs) => {
    const compared = pairs.filter((pair) => pair.apart === undefined);
    if (!compared.length) return null;
    const log = compared.reduce((sum, pair) => sum + pair.log, 0) / compared.length;
    const width = Math.sqrt(compared.reduce((sum, pair) => sum + pair.width ** 2, 0)) / compared.length;
    return { ratio: Math.exp(log), width, count: compared.length };
  };

  // The pairs of each row and column with the baseline, `base` being the code of a column.
  bench.against = (grid, base) => {
    const found = new Map();
    const compared = grid.cols === "python" ? (one, other) => [{ one, other, pythons: null }] : bench.ofOnePython;
    for (const group of grid.groups) {
      const basis = group.by.get(base);
      for (const [of, members] of group.by) {
        const where = `${group.of}|${of}`;
        if (!found.has(where)) found.set(where, { pairs: [], alone: [] });
        if (!basis) found.get(where).alone.push(members);
        else if (of === base) found.get(where).pairs.push({ log: 0, width: 0, members, base: basis });
        else for (const { one, other, pythons } of compared(basis, members)) found.get(where).pairs.push({ ...bench.pair(other, one, grid.column), pythons });
      }
    }
    return found;
  };

  // The column that most contexts have: without a choice it is what others are compared with.
  bench.usual = (grid) => {
    const counts = new Map();
    for (const group of grid.groups) if (group.by.size > 1) for (const of of group.by.keys()) counts.set(of, (counts.get(of) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? grid.groups[0]?.by.keys().next().value;
  };
})();
