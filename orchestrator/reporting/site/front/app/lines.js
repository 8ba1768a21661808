"use strict";
// Lines of cells that differ in one number alone, such as the batch size, for the charts along it.
(() => {
  // Where devices vary, so does the system that holds them.
  const SYSTEM = { gpus: [], cpus: ["gpus"] };
  // One client of the load `closed` is a single stream.
  const VARY_TOO = { clients: ["scenario"] };
  const SAID = new Set(["label", "framework", "variant", "model", "mode", "dataset", "feed", "scaling", "size", "sizes", "scenario", "host", "system"]);

  // What is the same for all lines of a comparison: the work and the place where it was done.
  bench.fixedWork = (along) => [...bench.site.ofWork.filter((axis) => axis !== along && !(VARY_TOO[along] ?? []).includes(axis)), ...(SYSTEM[along] ?? ["system"]), "host"];
  // All that the cells of a line share besides what they are named by.
  const fixed = (along) => [...bench.fixedWork(along), "variant", "python"];

  // Lines over the newest results of `rows`, each a list of points in their order. By framework, the newest release counts
  // at each number.
  bench.lines = (rows, along, by) => {
    const { site } = bench;
    const axes = [by, ...fixed(along)];
    const numbered = rows.filter((row) => site.axis(row, along) > 0);
    const groups = bench.grouped(numbered, (row) => axes.map((axis) => site.code(row, axis)).join(" "));
    return [...groups.values()].map((members) => {
      // Two systems of as many devices are two points.
      const places = bench.grouped(members, (row) => `${site.axis(row, along)} ${site.code(row, "system")}`);
      return [...places.values()].map((same) => Math.max(...site.ofNewestRelease(same))).map((row) => ({ row, at: site.axis(row, along) })).sort((a, b) => a.at - b.at);
    });
  };

  // The name of a line among others: what it is of, and all that is not the same for each of them.
  bench.lineNames = (lines, along, by) => {
    const { site } = bench;
    const first = lines.map((line) => line.at(-1).row);
    const several = fixed(along).filter((axis) => new Set(first.map((row) => site.code(row, axis))).size > 1 && axis !== by);
    const said = (row, axis) => {
      const value = site.axis(row, axis);
      return value === "" || value === null ? "" : SAID.has(axis) ? value : `${site.titles[axis]} ${value}`;
    };
    return first.map((row) => [by, ...several].map((axis) => said(row, axis)).filter(Boolean).join(", "));
  };

  // The looks of lines: those of a framework have its hue, and differ in shape and dash.
  bench.looks = (lines) => {
    const { site } = bench;
    const met = new Map();
    return lines.map((line) => {
      const framework = site.axis(line[0].row, "framework");
      const number = met.get(framework) ?? 0;
      met.set(framework, number + 1);
      return site.look(framework, number);
    });
  };

  // Filters for a reader who has chosen none: the model, mode and host that were measured at the most numbers.
  bench.longest = (along) => bench.site.once(`longest ${along}`, () => {
    const { site } = bench;
    const rows = site.computing({}).filter((row) => site.axis(row, along) > 0);
    const groups = bench.grouped(rows, (row) => ["model", "mode", "host"].map((axis) => site.code(row, axis)).join(" "));
    const size = (group) => new Set(group.map((row) => site.axis(row, along))).size;
    const [largest] = [...groups.values()].map((group) => [size(group), group[0]]).sort((a, b) => b[0] - a[0]);
    return largest ? Object.fromEntries(["model", "mode", "host"].map((axis) => [`f.${axis}`, site.axis(largest[1], axis)])) : {};
  });

  // A view with filters of its own has them until the reader chooses others, or none with `all=yes`.
  bench.chosen = (values, own) => Object.keys(values).some((name) => name.startsWith("f.")) || values.all ? {} : { ...own(), all: "yes" };

  // The numbers that cells differ in.
  bench.numbers = (axes) => axes.filter((axis) => (bench.site.valuesOf(axis) ?? []).filter((value) => value > 0).length > 1);

  // The rows of a field: those that no other one of their group beats in both metrics. Each gain is larger where it is better.
  bench.unbeaten = (rows, groupOf, across, up) => {
    const best = new Set();
    for (const group of bench.grouped(rows, groupOf).values()) {
      group.sort((a, b) => across(b) - across(a) || up(b) - up(a));
      let [highest, here, at] = [-Infinity, -Infinity, null];
      for (const row of group) {
        // Rows that are equal in both do not beat each other.
        if (across(row) !== at) [highest, here, at] = [Math.max(highest, here), up(row), across(row)];
        if (up(row) === here && here > highest) best.add(row);
      }
    }
    return best;
  };
  bench.gain = (metric, column) => (row) => metric.better === "higher" ? column.v[row] : -column.v[row];
})();
