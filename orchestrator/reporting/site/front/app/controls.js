"use strict";
// Selects and fields that change the address of a view.
(() => {
  const { h } = bench;
  let number = 0;

  const labelled = (label, control) => {
    number += 1;
    control.id = `control-${number}`;
    return h("div", { class: "control" }, h("label", { for: control.id }, label), control);
  };

  // `options` are pairs of value and text.
  bench.choice = (label, name, options, now, after = {}) => labelled(label, h("select", {
    name, onchange: (event) => bench.change({ [name]: event.target.value, ...after }),
  }, options.map(([value, text]) => h("option", { value, selected: String(value) === String(now ?? "") }, text))));

  bench.date = (label, name, now) => labelled(label, h("input", {
    type: "date", name, value: now ?? "", onchange: (event) => bench.change({ [name]: event.target.value }),
  }));

  bench.words = (label, name, now, then) => labelled(label, h("input", {
    type: "search", name, value: now ?? "", autocomplete: "off", spellcheck: "false", oninput: (event) => then(event.target.value),
  }));

  const text = (value) => value === "" || value === null ? "none" : bench.shortened(String(value), 60);
  bench.facet = (axis, wanted) => bench.choice(bench.site.titles[axis], `f.${axis}`,
    [["", "all"], ...bench.site.sorted(axis).filter((value) => value !== "" && value !== null).map((value) => [value, text(value)])], wanted[`f.${axis}`]);

  // The facets that matter most stand in the open, the others behind a summary that says how many are set.
  bench.facets = (wanted, first, without = []) => {
    const { facets } = bench.site;
    const open = first.filter((axis) => facets.includes(axis));
    const rest = facets.filter((axis) => !open.includes(axis) && !without.includes(axis));
    const set = rest.filter((axis) => wanted[`f.${axis}`]).length + ["from", "to"].filter((each) => wanted[each]).length;
    return [
      open.map((axis) => bench.facet(axis, wanted)),
      h("details", { class: "rest", open: set > 0 }, h("summary", {}, set ? `More filters (${set} set)` : "More filters"),
        h("div", { class: "controls" }, bench.date("From", "from", wanted.from), bench.date("To", "to", wanted.to), rest.map((axis) => bench.facet(axis, wanted)))),
    ];
  };

  bench.metricChoice = (wanted, name = "metric", label = "Metric") => bench.choice(label, name,
    [...bench.site.metrics.values()].map((metric) => [metric.name, bench.capital(metric.title)]), wanted[name]);
})();
