"use strict";
// Numbers, times and ratios as people read them.
(() => {
  const digits = (value, most = 3) => {
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toLocaleString("en");
    return String(Number(value.toPrecision(most)));
  };
  const seconds = (value) => {
    if (value === 0) return "0 s";
    if (value >= 1) return `${digits(value)} s`;
    if (value >= 1e-3) return `${digits(value * 1e3)} ms`;
    return `${digits(value * 1e6)} µs`;
  };
  const bytes = (value) => {
    for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (value >= size) return `${digits(value / size)} ${unit}`;
    return `${digits(value)} B`;
  };

  bench.digits = digits;
  bench.seconds = seconds;
  bench.bytes = bytes;
  bench.number = (value) => value === null || value === undefined ? "–" : value.toLocaleString("en");
  bench.percent = (value) => `${digits(value * 100, 2)} %`;
  bench.figure = (metric, value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (metric.unit === "s") return seconds(value);
    if (metric.unit === "B") return bytes(value);
    return metric.unit ? `${digits(value)} ${metric.unit}` : digits(value, 4);
  };
  bench.ratio = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    return value >= 100 || value < 0.01 ? `${value.toPrecision(2)}×` : `${value.toFixed(value >= 10 ? 1 : 2)}×`;
  };
  bench.day = (text) => String(text).slice(0, 10);
  bench.moment = (text) => String(text).slice(0, 16).replace("T", " ");
  bench.counted = (number, word) => `${bench.number(number)} ${word}${number === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;
  bench.interval = (metric, value, half) => half === null || Number.isNaN(half) ? "" :
    `${bench.figure(metric, value * Math.exp(-half))} – ${bench.figure(metric, value * Math.exp(half))}`;
  bench.shortened = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;
})();
