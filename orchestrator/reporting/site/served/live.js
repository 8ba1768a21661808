"use strict";
// What is measured at the moment, as the server tells it. It is there only where a server is.
(() => {
  const { h } = bench;
  const APART = ["ok", "disturbed", "running", "", "not_run", "no_device", "unsupported"];
  const MARKS = { running: ["▶", "running"], failed: ["✗", "failed"], disturbed: ["▪", "disturbed"], ok: ["■", "ok"], none: ["–", "not measured"], later: ["·", "to come"] };
  const MOST = 120;
  const runs = new Map();
  const cards = new Map();
  const live = bench.live = {};
  let ahead = 0;
  let pending = "";
  let connected = false;
  let source = null;
  let place = null;

  const kind = (state) => ({ ok: "ok", disturbed: "disturbed", running: "running", "": "later" })[state] ?? (APART.includes(state) ? "none" : "failed");
  const now = () => Date.now() / 1000 + ahead;
  const lasting = (seconds) => {
    const whole = Math.max(0, Math.round(seconds));
    if (whole < 100) return `${whole} s`;
    if (whole < 6000) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
    return `${Math.floor(whole / 3600)} h ${String(Math.floor(whole / 60) % 60).padStart(2, "0")} min`;
  };
  // Elements that show a time go on by themselves, whatever the server says.
  const since = (moment) => h("span", { class: "clock", "data-since": moment }, lasting(now() - moment));
  const until = (moment) => h("span", { class: "clock", "data-until": moment }, lasting(moment - now()));
  const published = (run) => bench.site?.runNumber(run) ?? -1;
  const underWay = () => [...runs.values()].filter((run) => !run.over);

  const states = (run, cell) => {
    const of = [...run.cells[cell][0]];
    for (const each of run.running) if (each.cell === cell && each.repeat < of.length) of[each.repeat] = "running";
    return of;
  };
  const counted = (of) => Object.entries(MARKS).map(([name, [, word]]) => [of.filter((state) => kind(state) === name).length, word])
    .filter(([number]) => number).map(([number, word]) => `${number} ${word}`).join(", ");

  const row = (run, cell) => {
    const of = states(run, cell);
    const [, rate, counts] = run.cells[cell];
    const number = published(run.run);
    const known = number >= 0 && bench.site.rowOf(number, cell) >= 0;
    return h("tr", { class: of.includes("running") ? "now" : null },
      h("th", { scope: "row" }, known ? bench.link(cell, "cell", { run: run.run, id: cell }) : cell),
      h("td", {}, h("span", { class: "marks", role: "img", "aria-label": counted(of) }, of.map((state) => h("span", { class: `mark ${kind(state)}`, title: state || "to come" }, MARKS[kind(state)][0])))),
      h("td", { class: "number" }, rate === null ? "" : `${bench.digits(rate, 4)} ${counts}s/s`));
  };

  // Cells that run, that have failed and that come next, if there is no room for all of them.
  const chosen = (run, most) => {
    const every = Object.keys(run.cells);
    if (every.length <= most) return every;
    const weight = (cell) => {
      const kinds = states(run, cell).map(kind);
      return kinds.includes("running") ? 0 : kinds.includes("failed") ? 1 : kinds.includes("later") ? 2 : 3;
    };
    const weights = new Map(every.map((cell, at) => [cell, weight(cell) * every.length + at]));
    const first = new Set([...every].sort((a, b) => weights.get(a) - weights.get(b)).slice(0, most));
    return every.filter((cell) => first.has(cell));
  };

  const log = (text) => text && h("p", { class: "last-line" }, h("span", { class: "hidden" }, "Last line of its log: "), h("code", {}, text));
  const work = (name, what, phase, moment, text) => h("li", {}, h("p", { class: "work" }, h("strong", {}, name), what, bench.chip(phase, "now"), since(moment)), log(text));
  const under = (run) => {
    const running = run.running.map((each) => work(each.cell, ` repeat ${each.repeat}`, each.phase.replaceAll("_", " "), each.since, each.log));
    const building = run.building.map((each) => work(each.image, each.step ? ` step ${each.step[0]} of ${each.step[1]}: ${each.step[2]}` : "", "building", each.since, each.log));
    const waiting = run.images - run.building.length;
    return [
      (running.length > 0 || building.length > 0) && h("ul", { class: "under-way" }, building, running),
      building.length > 0 && waiting > 0 && h("p", { class: "note" }, `${bench.counted(waiting, "more environment")} to provide`),
      run.transfer && h("p", { class: "note" }, `${run.transfer.what}: ${bench.bytes(run.transfer.done)}${run.transfer.total ? ` of ${bench.bytes(run.transfer.total)}` : ""}`),
    ];
  };
  const told = (run) => [
    run.disturbance && h("p", { class: "told open" }, h("strong", {}, "Disturbed: "), `${run.disturbance.cell} repeat ${run.disturbance.repeat}: ${run.disturbance.text}`),
    run.failure && h("p", { class: "told bad" }, h("strong", {}, `${bench.capital(run.failure.status.replaceAll("_", " "))}: `), `${run.failure.cell} repeat ${run.failure.repeat}: ${run.failure.text}`),
    run.notice && !run.over && h("p", { class: "told" }, run.notice),
  ];
  const counts = (run) => {
    const done = run.ok + run.failed + run.other;
    const chips = [[run.ok - run.disturbed, "ok", "good"], [run.disturbed, "disturbed", "open"], [run.failed, "failed", "bad"], [run.other, "not measured", "plain"]];
    return h("p", { class: "counts" }, h("strong", {}, `${bench.number(done)} of ${bench.number(run.planned)}`), ` repeats${run.resumed ? `, ${bench.number(run.resumed)} done before` : ""}`,
      run.ends !== null && !run.over && [" · about ", until(run.ends), " left"],
      chips.map(([number, word, mark]) => number > 0 && [" ", bench.chip(`${bench.number(number)} ${word}`, mark)]));
  };

  const headed = (run) => [published(run.run) >= 0 ? bench.link(run.run, "run", { run: run.run }) : run.run, " ",
    run.over && bench.chip(run.over === "ended" ? "has ended" : "was stopped", run.over === "ended" ? "good" : "bad")];

  // A card for each run: its parts are made again when they change, and of its table only the rows that have.
  const card = (run) => {
    const body = h("tbody");
    const rows = new Map();
    let most = MOST;
    const parts = { head: h("h2"), counts: h("div"), bar: h("progress", { "aria-label": `Repeats of ${run.run}` }), under: h("div"), told: h("div"), more: h("p", { class: "more" }) };
    const draw = (changed) => {
      const at = runs.get(run.run);
      bench.replace(parts.head, headed(at));
      bench.replace(parts.counts, counts(at));
      parts.bar.max = Math.max(1, at.planned);
      parts.bar.value = at.ok + at.failed + at.other;
      bench.replace(parts.under, under(at));
      bench.replace(parts.told, told(at));
      const shown = chosen(at, most);
      const same = shown.length === rows.size && shown.every((cell) => rows.has(cell));
      if (!same || changed === null) {
        rows.clear();
        for (const cell of shown) rows.set(cell, row(at, cell));
        bench.replace(body, [...rows.values()]);
      } else {
        for (const cell of changed) {
          if (!rows.has(cell)) continue;
          const made = row(at, cell);
          rows.get(cell).replaceWith(made);
          rows.set(cell, made);
        }
      }
      const hidden = Object.keys(at.cells).length - shown.length;
      bench.replace(parts.more, hidden > 0 && [`and ${bench.counted(hidden, "more cell")}. `, h("button", { type: "button", onclick: () => { most = Infinity; draw(null); } }, "Show all")]);
    };
    const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Cells of ${run.run}` }, h("table", { class: "grid" },
      h("caption", { class: "hidden" }, `Cells of ${run.run} and their repeats`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Cell"), h("th", { scope: "col" }, "Repeats"), h("th", { scope: "col", class: "number" }, "Last rate"))), body));
    const element = h("section", { class: "live-run" }, parts.head, parts.counts, parts.bar, parts.under, parts.told, table, parts.more);
    draw(null);
    return { element, draw };
  };

  const legend = () => h("ul", { class: "legend marks-legend" }, Object.entries(MARKS).map(([name, [mark, word]]) => h("li", {}, h("span", { class: `mark ${name}`, "aria-hidden": "true" }, mark), ` ${word}`)));
  const said = () => {
    const number = underWay().length;
    if (!connected) return [bench.chip("not connected", "bad"), " What is below is as it was last. The page tries again by itself."];
    return number ? `${bench.counted(number, "run")} under way` : `Nothing is under way. A run in ${bench.site?.index.folder ?? "the results folder"} appears here as soon as it begins.`;
  };

  const redraw = () => {
    if (!place?.isConnected) return;
    bench.replace(place.status, said());
    place.legend.hidden = runs.size === 0;
    const order = [...runs.values()].sort((a, b) => Number(Boolean(a.over)) - Number(Boolean(b.over)) || (b.began ?? 0) - (a.began ?? 0)).map((run) => run.run);
    for (const name of cards.keys()) if (!runs.has(name)) cards.delete(name);
    for (const name of order) if (!cards.has(name)) cards.set(name, card(runs.get(name)));
    const wanted = order.map((name) => cards.get(name).element);
    if (wanted.length !== place.runs.children.length || wanted.some((element, at) => place.runs.children[at] !== element)) bench.replace(place.runs, wanted);
  };

  bench.views.live = () => {
    cards.clear();
    place = h("div");
    place.status = h("p", { class: "lead", role: "status" });
    place.runs = h("div");
    place.legend = legend();
    bench.replace(place, place.status, place.legend, place.runs);
    queueMicrotask(redraw);
    return [bench.heading(1, "Live"), place];
  };

  // The links of the top say how many runs are under way, and that there is something new.
  const top = () => {
    const link = document.querySelector("nav a[data-path='live']");
    if (!link) return;
    const number = underWay().length;
    bench.replace(link, "Live", number > 0 && [" ", h("span", { class: "badge" }, h("span", { "aria-hidden": "true" }, number), h("span", { class: "hidden" }, `, ${bench.counted(number, "run")} under way`))]);
    let fresh = document.getElementById("fresh");
    if (!pending) fresh?.remove();
    else if (!fresh) {
      fresh = h("p", { id: "fresh", role: "status" }, h("button", { type: "button", onclick: () => { live.apply(); bench.show(false); } }, "Show new results"));
      document.getElementById("top").append(fresh);
    }
  };

  // Takes the newest index, which has been loaded already. Returns false if there is none.
  live.apply = () => {
    if (!pending) return false;
    pending = "";
    bench.renew();
    top();
    return true;
  };
  let taken = null;
  const renewed = (index) => {
    taken ??= document.querySelector("script[src^='data/i-']")?.getAttribute("src").slice(5, 23);
    if (!index || index === taken) return;
    taken = index;
    bench.load(`data/${index}.js`).then(() => {
      if (taken !== index) return;
      pending = index;
      const { path } = bench.place();
      // Nothing is lost where there is no figure yet, or what is drawn comes from here, or could not be drawn.
      if (path === "live" || bench.site.rows === 0 || live.isBroken) {
        live.apply();
        if (path === "live") { for (const each of cards.values()) each.draw(null); redraw(); } else bench.show(false);
      }
      top();
      // An index that has gone was replaced meanwhile, and the next message names the one that counts.
    }, () => { if (taken === index) taken = ""; });
  };

  const take = (run) => {
    const before = runs.get(run.run);
    const whole = run.whole || !before;
    runs.set(run.run, { ...run, cells: whole ? run.cells : Object.assign(before.cells, run.cells) });
    ahead = run.now - Date.now() / 1000;
    const moved = [...(before?.running ?? []), ...run.running].map((each) => each.cell).filter((cell) => cell in runs.get(run.run).cells);
    cards.get(run.run)?.draw(whole || before.over !== run.over ? null : new Set([...Object.keys(run.cells), ...moved]));
  };
  const heard = (handle) => (event) => { handle(JSON.parse(event.data)); redraw(); top(); };
  const connect = () => {
    if (source) return;
    source = new EventSource("events");
    source.addEventListener("open", () => { connected = true; redraw(); });
    source.addEventListener("error", () => {
      connected = false;
      // A server that refuses ends it for good; the page asks again, more seldom.
      if (source?.readyState === EventSource.CLOSED) { source = null; setTimeout(() => { if (!document.hidden) connect(); }, 10000); }
      redraw();
    });
    source.addEventListener("state", heard((state) => {
      ahead = state.now - Date.now() / 1000;
      runs.clear();
      cards.clear();
      for (const run of state.runs) take(run);
      renewed(state.index);
    }));
    source.addEventListener("run", heard(take));
    source.addEventListener("gone", heard(({ run }) => runs.delete(run)));
    source.addEventListener("published", heard(({ index }) => renewed(index)));
  };
  // A browser has few connections to one server: a page that nobody sees leaves its own to others.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) connect();
    else if (source) { source.close(); source = null; }
  });
  setInterval(() => {
    for (const clock of document.querySelectorAll(".clock")) {
      clock.textContent = clock.dataset.since ? lasting(now() - Number(clock.dataset.since)) : lasting(Number(clock.dataset.until) - now());
    }
  }, 1000);
  // The token has become a cookie. It need not stand in the address any longer.
  const address = new URL(location.href);
  if (address.searchParams.has("token")) {
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
  window.addEventListener("load", connect);
})();
