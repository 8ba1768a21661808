"use strict";
// The page: its links and its search field, and the view of the address.
(() => {
  const { h } = bench;
  const LINKS = [["", "Overview"], ["compare", "Compare"], ["series", "Series"], ["scaling", "Scaling"], ["frontier", "Frontier"], ["pareto", "Pareto"], ["runs", "Runs"], ["nights", "Nights"], ["searches", "Searches"], ["claims", "Studies"]];
  const NEEDS = { nights: "nights", searches: "searches", claims: "studies" };
  const OF = { "": "overview", behind: "behind" };
  const main = document.getElementById("main");
  let asked = 0;

  // Those that have something to show.
  bench.links = () => LINKS.filter(([path]) => !(path in NEEDS) || bench.site.index.counts[NEEDS[path]] > 0);
  bench.missing = (text) => [bench.heading(1, "Not here"), h("p", {}, text), h("p", {}, bench.link("All results", ""))];

  const head = (index) => {
    const field = h("input", { type: "search", id: "find", name: "find", placeholder: "Find a cell, run or host", autocomplete: "off", spellcheck: "false" });
    const go = () => {
      const now = bench.place();
      const to = bench.address("find", { q: field.value });
      if (now.path === "find") history.replaceState(null, "", to); else history.pushState(null, "", to);
      bench.show(false);
    };
    field.addEventListener("input", go);
    const [first, ...others] = bench.links();
    const links = [first, ...(bench.live ? [["live", "Live"]] : []), ...others];
    bench.replace(document.getElementById("top"),
      h("nav", { "aria-label": "Views" }, h("ul", {}, links.map(([path, text]) => h("li", {}, bench.link(text, path, {}, { "data-path": path }))))),
      h("search", {}, h("label", { for: "find", class: "hidden" }, "Find"), field));
    bench.replace(document.getElementById("foot"), h("p", {}, `Made by orchestrator ${index.orchestrator} from ${bench.counted(bench.site.runs.run.length, "run")}. Intervals are over the repeats of a run; differences between runs come on top.`));
  };

  // A server brings the site up to date: what is drawn stays until the next view.
  bench.renew = () => {
    const index = bench.held("index");
    bench.open(index);
    head(index);
    mark(bench.place().path);
  };

  const mark = (path) => {
    for (const link of document.querySelectorAll("nav a")) {
      const own = link.dataset.path;
      if (own === path || (own === "" && path === "behind") || (own === "runs" && (path === "run" || path === "cell"))) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
  };

  // Draws the view of the address. After a link, what is read next is its heading; after a control, the control stays.
  bench.show = (moved = true) => {
    const { path, values } = bench.place();
    const name = OF[path] ?? path;
    asked += 1;
    if (bench.live) bench.live.isBroken = false;
    bench.labels.clear();
    const mine = asked;
    const put = (content) => {
      if (mine !== asked) return;
      const control = !moved && main.contains(document.activeElement) ? document.activeElement : null;
      const kept = control && { name: control.name, text: control.textContent, open: [...main.querySelectorAll("details.rest[open]")].length > 0 };
      bench.replace(main, content);
      mark(path);
      const title = main.querySelector("h1")?.textContent ?? "Results";
      document.title = `${title} · results`;
      if (kept) {
        if (kept.open) main.querySelector("details.rest")?.setAttribute("open", "");
        const same = [...main.querySelectorAll("select, input, button")].find((each) => kept.name ? each.name === kept.name : each.textContent === kept.text && each.tagName === control.tagName);
        same?.focus({ preventScroll: true });
      } else if (moved) {
        window.scrollTo(0, 0);
        main.querySelector("h1")?.focus({ preventScroll: true });
      }
    };
    const failed = (error) => {
      if (bench.live?.apply()) { bench.show(moved); return; }
      put([bench.heading(1, "Cannot be shown"), h("p", {}, error.message), h("p", {}, bench.link("All results", ""))]);
      if (bench.live && mine === asked) bench.live.isBroken = true;  // what it needs was replaced; the next index has it
    };
    const view = Object.hasOwn(bench.views, name) ? bench.views[name] : () => bench.missing("There is no such view.");
    try {
      const content = view(values);
      if (content instanceof Promise) content.then(put, failed); else put(content);
    } catch (error) { failed(error); }
  };

  const index = bench.held("index");
  if (!index) {
    bench.replace(main, bench.heading(1, "Results"), h("p", {}, "The data of this site is missing: copy its whole folder, or publish again."));
    return;
  }
  bench.open(index);
  head(index);
  window.addEventListener("hashchange", () => { bench.live?.apply(); bench.show(); });
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
  document.getElementById("jump").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
  // The first view leaves the keyboard at the top of the page.
  bench.show(false);
})();
