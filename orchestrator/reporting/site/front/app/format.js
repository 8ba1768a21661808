"use strict";
// Numbers, times and ratios as people read them.
(() => {
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const digits = (value, most = 3) => {
    const size = Math.abs(value);
    if (size >= 1000) return whole.format(Math.round(value));
    return String(Number(value.toPrecision(most)));
  };
  const seconds = (value, most = 3) => {
    if (value === 0) return "0 s";
    if (value >= 1) return `${digits(value, most)} s`;
    if (value >= 1e-3) return `${digits(value * 1e3, most)} ms`;
    return `${digits(value * 1e6, most)} µs`;
  };
  const bytes = (value, most = 3) => {
    for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (value >= size) return `${digits(value / size, most)} ${unit}`;
    return `${digits(value, most)} B`;
  };

  bench.digits = digits;
  bench.seconds = seconds;
  bench.bytes = bytes;
  bench.number = (value) => value === null || value === undefined ? "–" : value.toLocaleString("en");
  bench.percent = (value) => `${digits(value * 100, 2)} %`;
  bench.figure = (metric, value, most = 3) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (metric.unit === "s") return seconds(value, most);
    if (metric.unit === "B") return bytes(value, most);
    return metric.unit ? `${digits(value, most)} ${metric.unit}` : digits(value, most + 1);
  };
  // A metric as a cell counts it: the throughput of a generation is in tokens.
  bench.counting = (metric, sample) => metric.unit === "samples/s" ? { ...metric, unit: `${sample}s/s` } : metric;
  // Without a unit that an axis or the other end of an interval names.
  bench.plain = (metric) => (value, most) => ["s", "B", ""].includes(metric.unit) ? bench.figure(metric, value, most) : digits(value, most);
  bench.ratio = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (value >= 100 || value < 0.01) return `${Number(value.toPrecision(2)).toLocaleString("en", { maximumSignificantDigits: 2 })}×`;
    return `${value.toFixed(value >= 10 ? 1 : value > 0.9 && value < 1.1 ? 3 : 2)}×`;
  };
  bench.ratioTick = (value) => `${Number(value.toPrecision(3))}×`;
  bench.capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  bench.day = (text) => String(text).slice(0, 10);
  bench.moment = (text) => String(text).slice(0, 16).replace("T", " ");
  bench.counted = (number, word) => `${bench.number(number)} ${word}${number === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;
  bench.interval = (metric, value, half) => half === null || Number.isNaN(half) ? "" :
    `${bench.plain(metric)(value * Math.exp(-half))} – ${bench.figure(metric, value * Math.exp(half))}`;
  bench.shortened = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;
})();
