"use strict";
// The pictures of one cell: its blocks in time, its steps in order, and how they are spread.
(() => {
  const { s } = bench;
  const names = (details, place) => `repeat ${details.repeats.repeat[place]}`;
  const with_ = (details, name) => details[name].map((each, place) => [each, place]).filter(([each]) => each);
  const SHOWN = 8;

  // Of a long repeat every n-th part is here. It keeps the number that it had among all.
  const ENDS = { one: "st", two: "nd", few: "rd", other: "th" };
  const ordinals = new Intl.PluralRules("en", { type: "ordinal" });
  const thinned = (traces, word) => {
    const strides = [...new Set(traces.map(({ stride }) => stride))].sort(d3.ascending);
    const some = strides.filter((stride) => stride > 1).map((stride) => `${stride}${ENDS[ordinals.select(stride)]}`);
    return some.length ? ` ${strides[0] > 1 ? "Every" : "Of long repeats every"} ${some.join(" or ")} ${word} is shown, of up to ${bench.number(d3.max(traces, ({ total }) => total))}.` : "";
  };
  const ringed = (all, shown) => {
    if (!all) return "no block is marked as disturbed";
    if (shown < all) return `of ${bench.counted(all, "disturbed block")} ${shown ? `${bench.number(shown)} ${shown === 1 ? "is shown, and has" : "are shown, and have"} a ring` : "none is shown"}`;
    return `${bench.counted(all, "disturbed block")} ${all === 1 ? "has" : "have"} a ring`;
  };

  // Timed blocks are numbered from 0, and those of the warm-up before them below it.
  const numbered = (blocks, shown) => ({ number: shown * blocks.stride - blocks.warm, isWarm: shown * blocks.stride < blocks.warm });
  const firstSteady = (blocks) => Math.ceil(blocks.warm / blocks.stride);

  // Rate of every block against the seconds since the first step, the warm-up faint, what was disturbed marked.
  bench.blockFigure = (id, details, run, unit) => {
    const every = with_(details, "blocks");
    if (!every.length) return null;
    const shown = every.slice(0, SHOWN);
    const traces = shown.map(([blocks, place]) => ({ place, blocks, rate: bench.unscaled(blocks.rate), end: bench.unscaled(blocks.end_s) }));
    const steady = traces.flatMap(({ blocks, rate }) => rate.slice(firstSteady(blocks)));
    const [low, high] = d3.extent(steady);
    const room = Math.max(high - low, high * 0.02);
    const limits = [Math.max(0, low - room * 0.5), high + room * 0.3];
    const rings = ringed(d3.sum(shown, ([blocks]) => blocks.disturbed), d3.sum(shown, ([blocks]) => blocks.marks.length));
    return bench.frame({
      title: "Blocks in time",
      note: `The rate of each block, ${every.length > SHOWN ? `the first ${SHOWN} of ${every.length} repeats` : bench.counted(every.length, "repeat")}. The warm-up is faint; ${rings}. A triangle stands for a block beyond the axis.${thinned(every.map(([blocks]) => blocks), "block")}`,
      draw: (width) => {
        const height = 300, left = 74, box = [left, width - 14];
        const x = bench.scale(traces.flatMap(({ end }) => end), box, { zero: true, log: false, pad: 0.02 });
        const y = d3.scaleLinear(limits, [height - 42, 14]);
        const circles = [];  // above the dots of all repeats
        return bench.plot({
          width, height, left, x, y, label: `Rates of the blocks of ${id}`, xTitle: "seconds since the first step began", yTitle: unit, xText: bench.digits, yText: bench.digits,
          parts: [traces.map(({ place, blocks, rate, end }) => {
            const at = rate.map((value, block) => [x(((end[block - 1] ?? 0) + end[block]) / 2), y(bench.clamp(value, limits)), value]);
            const reasons = new Map(blocks.marks);
            return s("g", { class: bench.lookOfRepeat(place).series },
              s("path", { class: "line", d: d3.line()(at.slice(firstSteady(blocks))), "stroke-dasharray": bench.lookOfRepeat(place).dash }),
              at.map(([a, b, value], block) => {
                const reason = reasons.get(block);
                const { number, isWarm } = numbered(blocks, block);
                const title = `${names(details, place)}, ${isWarm ? `warm-up block ${number + blocks.warm}` : `block ${number}`}: ${bench.digits(value, 4)} ${unit}${reason ? `; disturbed: ${reason}` : ""}`;
                const beyond = value < limits[0] ? "M-4 -5L4 -5L0 2Z" : value > limits[1] ? "M-4 5L4 5L0 -2Z" : null;
                if (reason) circles.push(s("circle", { class: "ring", cx: a, cy: b, r: 8 }, s("title", {}, title)));
                return s("path", { class: `dot ${isWarm ? "warm" : ""}`, transform: `translate(${a} ${b})`, d: beyond ?? d3.symbol(bench.shape(bench.lookOfRepeat(place)), 26)() }, s("title", {}, title));
              }));
          }), circles],
        });
      },
      csv: () => [["repeat", "block", "warm_up", "end_s", unit, "disturbed"], ...every.flatMap(([blocks, place]) => {
        const [rate, end, reasons] = [bench.unscaled(blocks.rate), bench.unscaled(blocks.end_s), new Map(blocks.marks)];
        return rate.map((value, block) => {
          const { number, isWarm } = numbered(blocks, block);
          return [details.repeats.repeat[place], number, isWarm, end[block], value, reasons.get(block) ?? ""];
        });
      })],
      command: () => bench.commands.repeats(run, id),
    });
  };

  const TITLES = {
    other_cpus: "CPUs that others used", steal: "CPUs that the hypervisor took", memory_pressure: "Share of the time short of memory", swapped: "Bytes swapped", throttled: "Periods out of CPU quota",
    thermal: "Times throttled for heat", gpu_heat: "Share of the time a GPU was hot", frequency_hz: "Clock, Hz", load: "Load of the host", cpu_pressure: "Share of the time waiting for a CPU", io_pressure: "Share of the time waiting for I/O",
    rss_bytes: "Memory, bytes", gpu_clock_hz: "Clock of the GPU, Hz", gpu_temperature_c: "GPU, °C",
  };
  // What else went on: a small picture for each condition that was read.
  bench.conditionFigures = (id, details, run) => {
    const every = with_(details, "blocks").slice(0, SHOWN);
    const known = [...new Set(every.flatMap(([blocks]) => Object.keys(blocks.conditions)))];
    return known.map((name) => {
      const traces = every.filter(([blocks]) => blocks.conditions[name]).map(([blocks, place]) => ({ place, end: bench.unscaled(blocks.end_s), values: bench.unscaled(blocks.conditions[name]) }));
      return bench.frame({
        title: TITLES[name] ?? name, note: thinned(every.map(([blocks]) => blocks), "block"),
        draw: (width) => {
          const height = 170;
          const x = bench.scale(traces.flatMap(({ end }) => end), [62, width - 14], { zero: true, log: false, pad: 0.02 });
          const y = bench.scale(traces.flatMap(({ values }) => values.filter((value) => value !== null)), [height - 42, 14], { log: false, zero: !name.endsWith("_hz") && !name.endsWith("_bytes"), pad: 0.1 });
          return bench.plot({
            width, height, x, y, label: `${TITLES[name] ?? name} during the blocks of ${id}`, xTitle: "seconds", yTitle: "", xText: bench.digits, yText: (value) => Math.abs(value) < 1000 ? bench.digits(value) : d3.format(".4~s")(value),
            parts: traces.map(({ place, end, values }) => s("g", { class: bench.lookOfRepeat(place).series }, s("path", { class: "line", "stroke-dasharray": bench.lookOfRepeat(place).dash,
              d: d3.line().defined(([, value]) => value !== null).x(([at]) => x(at)).y(([, value]) => y(value))(values.map((value, block) => [end[block], value])) }))),
          });
        },
        csv: () => [["repeat", "end_s", name], ...traces.flatMap(({ place, end, values }) => values.map((value, block) => [details.repeats.repeat[place], end[block], value]))],
        command: () => bench.commands.repeats(run, id),
      });
    });
  };

  // The share of steps that are done within a time, for each repeat.
  bench.spreadFigure = (id, details, run) => {
    const every = with_(details, "steps").filter(([steps]) => steps.s);
    if (!every.length) return null;
    const curves = every.slice(0, SHOWN).map(([steps, place]) => ({ place, sorted: bench.unscaled(steps.s).sort(d3.ascending) }));
    const all = curves.flatMap(({ sorted }) => sorted);
    const wide = d3.max(all) / d3.min(all) >= 30;
    const limits = wide ? d3.extent(all) : bench.limits(all, 0.004);
    const beyond = all.filter((value) => value > limits[1]).length;
    const few = thinned(every.map(([steps]) => steps), "step");
    return bench.frame({
      title: "Spread of single steps",
      note: `The share of steps that take at most so long, of a pass of its own.${few}${beyond ? ` ${bench.counted(beyond, few ? "shown step" : "step")} beyond the axis, up to ${bench.seconds(d3.max(all))}: the curves end below 100 % there.` : ""}`,
      draw: (width) => {
        const height = 300;
        const x = bench.scale([...limits], [62, width - 14], { pad: 0.03, log: wide });
        const y = d3.scaleLinear([0, 1], [height - 42, 14]);
        return bench.plot({
          width, height, x, y, label: `Distribution of the step times of ${id}`, xTitle: "time of a step", yTitle: "share of steps", xText: bench.seconds, yText: (value) => `${Math.round(value * 100)} %`, yTicks: [0, 0.25, 0.5, 0.75, 0.9, 1],
          parts: curves.map(({ place, sorted }) => {
            const points = sorted.map((value, rank) => [value, (rank + 1) / sorted.length]).filter(([value]) => value <= limits[1]);
            return s("g", { class: bench.lookOfRepeat(place).series }, s("path", { class: "line", "stroke-dasharray": bench.lookOfRepeat(place).dash, d: d3.line().curve(d3.curveStepAfter)(points.map(([value, share]) => [x(Math.max(value, limits[0])), y(share)])) }, s("title", {}, names(details, place))));
          }),
        });
      },
      csv: () => [["repeat", "step_s", "share"], ...every.flatMap(([steps, place]) => {
        const sorted = bench.unscaled(steps.s).sort(d3.ascending);
        return sorted.map((value, rank) => [details.repeats.repeat[place], value, (rank + 1) / sorted.length]);
      })],
      command: () => bench.commands.repeats(run, id),
    });
  };

  // Every step in its order, a strip for each repeat: a drift and a single slow step look different.
  bench.stripFigure = (id, details, run) => {
    const every = with_(details, "steps").filter(([steps]) => steps.s);
    if (!every.length) return null;
    const strips = every.map(([steps, place]) => ({ place, stride: steps.stride, total: steps.total, values: bench.unscaled(steps.s) }));
    const all = strips.flatMap(({ values }) => values);
    const wide = d3.max(all) / d3.min(all) >= 30;
    const limits = wide ? d3.extent(all) : bench.limits(all, 0.004);
    return bench.frame({
      title: "Steps in their order", wide: true, note: `A point for each step, a strip for each repeat. A triangle at the top stands for a step beyond the axis.${thinned(strips, "step")}`,
      draw: (width) => {
        const most = d3.max(strips, ({ total }) => total);
        const lane = 74, height = strips.length * lane + 56, left = 90;
        const x = d3.scaleLinear([0, most], [left, width - 14]);
        const y = bench.scale([...limits], [lane - 14, 8], { pad: 0.04, log: wide });
        const names_ = d3.scaleLinear([0, strips.length], [14, 14 + strips.length * lane]);
        return bench.plot({
          width, height, left, x, y: names_, label: `Steps of ${id} in their order`, xTitle: "step", yTitle: "", xText: (value) => bench.number(value), yText: (value) => value < strips.length ? names(details, strips[value].place) : "", yTicks: [],
          parts: strips.map(({ place, stride, values }, line) => s("g", { class: bench.lookOfRepeat(place).series, transform: `translate(0 ${14 + line * lane})` },
            s("text", { x: left - 10, y: 14, "text-anchor": "end", class: "name" }, names(details, place)),
            s("text", { x: left - 10, y: y(y.domain()[1]) + 22, "text-anchor": "end", class: "small" }, bench.seconds(y.domain()[1])),
            s("text", { x: left - 10, y: lane - 12, "text-anchor": "end", class: "small" }, bench.seconds(y.domain()[0])),
            s("line", { class: "rule", x1: left, x2: width - 14, y1: lane - 8, y2: lane - 8 }),
            s("path", { class: "specks", d: values.map((value, shown) => value <= limits[1] ? `M${x(shown * stride).toFixed(1)} ${y(Math.max(value, limits[0])).toFixed(1)}h0` : "").join("") }),
            values.map((value, shown) => value > limits[1] && s("path", { class: "beyond", transform: `translate(${x(shown * stride)} 8)`, d: "M-4 5L0 -3L4 5Z" }, s("title", {}, `step ${shown * stride}: ${bench.seconds(value)}`))))),
        });
      },
      csv: () => [["repeat", "step", "step_s"], ...strips.flatMap(({ place, stride, values }) => values.map((value, shown) => [details.repeats.repeat[place], shown * stride, value]))],
      command: () => bench.commands.repeats(run, id),
    });
  };
})();
