"use strict";
// Axes and marks that the charts share.
(() => {
  const { s } = bench;
  const DECADE_AND_A_HALF = 30;

  // Values that span decades get a logarithmic axis.
  bench.scale = (values, range, { zero = false, pad = 0.06, log = null } = {}) => {
    const known = values.filter((value) => Number.isFinite(value));
    let [low, high] = known.length ? d3.extent(known) : [0, 1];
    const isLog = log ?? (low > 0 && high / low >= DECADE_AND_A_HALF);
    if (isLog) {
      const room = Math.max(0.04, Math.log(high / low) * pad);
      const scale = d3.scaleLog([low * Math.exp(-room), high * Math.exp(room)], range);
      scale.isLog = true;
      return scale;
    }
    if (zero) low = Math.min(0, low);
    if (low === high) [low, high] = [low - Math.abs(low) * 0.1 - 1e-12, high + Math.abs(high) * 0.1 + 1e-12];
    const room = (high - low) * pad;
    return d3.scaleLinear([zero && low === 0 ? 0 : low - room, high + room], range);
  };

  bench.ticks = (scale, room) => {
    const most = Math.max(2, Math.floor(room));
    if (!scale.isLog) return scale.ticks(most);
    const every = scale.ticks();
    const [low, high] = scale.domain();
    const steps = [every, every.filter((value) => [1, 2, 5].includes(Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9)))),
      every.filter((value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9)];
    return steps.find((each) => each.length >= 2 && each.length <= most) ?? (steps[2].length >= 2 ? steps[2].filter((_, place) => place % Math.ceil(steps[2].length / most) === 0) : [low, Math.sqrt(low * high), high].map((value) => Number(value.toPrecision(2))));
  };

  // As many digits as tell the ticks of an axis apart.
  const distinct = (ticks, text) => {
    const most = [3, 4, 5, 6, 7].find((each) => new Set(ticks.map((value) => text(value, each))).size === ticks.length);
    return (value) => text(value, most ?? 3);
  };

  // A picture with axes: `x` and `y` are scales, `parts` what is drawn within. Rules may be left out where places have names.
  bench.plot = ({ width, height, left = 62, right = 14, top = 14, bottom = 42, label, x, y, xText, yText, xTitle, yTitle, parts, xTicks = null, yTicks = null }) => {
    const across = xTicks ?? bench.ticks(x, (width - left - right) / 84);
    const up = yTicks ?? bench.ticks(y, (height - top - bottom) / 34);
    const [acrossText, upText] = [distinct(across, xText), distinct(up, yText)];
    const drawn = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": label, class: "plot" },
      s("g", { class: "grid" },
        up.map((value) => s("line", { x1: left, x2: width - right, y1: y(value), y2: y(value) })),
        across.map((value) => s("line", { x1: x(value), x2: x(value), y1: top, y2: height - bottom, class: "faint" }))),
      s("g", { class: "axis" },
        up.map((value) => s("text", { x: left - 8, y: y(value), "text-anchor": "end", "dominant-baseline": "central" }, upText(value))),
        across.map((value) => s("text", { x: x(value), y: height - bottom + 17, "text-anchor": "middle" }, acrossText(value))),
        s("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle", class: "title" }, xTitle + (x.isLog ? " (logarithmic)" : "")),
        s("text", { x: 0, y: 0, transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, yTitle + (y.isLog ? " (logarithmic)" : ""))),
      parts);
    // A picture has no parts for those who cannot see it, but one with links is a group of them.
    drawn.setAttribute("role", drawn.querySelector("a") ? "group" : "img");
    return drawn;
  };

  bench.dots = (points, look, size = 36) => {
    const d = d3.symbol(bench.shape(look), size)();
    return points.map(({ x, y, title, hollow = false, to = null }) => {
      const mark = s("path", { transform: `translate(${x} ${y})`, d, class: `dot ${hollow ? "hollow" : ""}` }, s("title", {}, title));
      return to ? s("a", { href: to, "aria-label": title }, mark) : mark;
    });
  };

  // An interval, cut with an arrow where it leaves the axis.
  bench.whisker = (x, from, to, [top, bottom]) => {
    const [a, b] = [Math.min(from, to), Math.max(from, to)];
    return [
      s("line", { class: "whisker", x1: x, x2: x, y1: Math.max(a, top), y2: Math.min(b, bottom) }),
      a < top && s("path", { class: "beyond", d: `M${x - 4} ${top + 6}L${x} ${top}L${x + 4} ${top + 6}Z` }),
      b > bottom && s("path", { class: "beyond", d: `M${x - 4} ${bottom - 6}L${x} ${bottom}L${x + 4} ${bottom - 6}Z` }),
    ];
  };

  // The limits between which nearly all values lie; what is beyond is marked at the edge.
  bench.limits = (values, share = 0.005) => {
    const sorted = values.filter(Number.isFinite).sort(d3.ascending);
    return [d3.quantileSorted(sorted, share), d3.quantileSorted(sorted, 1 - share)];
  };
  bench.clamp = (value, [low, high]) => Math.min(high, Math.max(low, value));
  bench.named = (metric) => metric.unit && metric.unit !== "s" && metric.unit !== "B" ? `${metric.title}, ${metric.unit}` : metric.title;
})();
