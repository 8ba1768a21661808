"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

  // Numbers sort as numbers, words as words, and what is unknown stays at the end.
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" || text === "–" ? null : Number.isNaN(Number(text)) ? text : Number(text);
  };
  const order = (a, b, sign) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  };
  const sort = (table, head) => {
    const first = head.classList.contains("number") ? "descending" : "ascending";
    const other = { ascending: "descending", descending: "ascending" };
    const now = head.ariaSort ? other[head.ariaSort] : first;
    for (const th of head.parentElement.cells) th.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", now);
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [value(row, head.cellIndex), row]);
    keyed.sort(([a], [b]) => order(a, b, now === "ascending" ? 1 : -1));
    body.append(...keyed.map(([, row]) => row));
  };
  for (const table of all("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const head = event.target.closest("button")?.closest("th");
      if (head) sort(table, head);
    });
  }

  // The index of a large report knows on which page each cell is; every page leads to what another one has.
  const directory = document.getElementById("directory");
  const elsewhere = new Map();
  const cells = [];
  for (const [page, anchor, title, rows] of directory ? JSON.parse(directory.textContent) : []) {
    elsewhere.set(anchor, page);
    for (const [id, label, words] of rows) {
      elsewhere.set(id, page);
      cells.push({ id, label, words, title, text: `${label} ${id} ${title} ${words}`.toLowerCase() });
    }
  }
  const everywhere = document.getElementById("everywhere");
  const lead = () => {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const here = document.getElementById(id);
    if (here) {
      const closed = [];
      for (let part = here.parentElement?.closest("details:not([open])"); part; part = part.parentElement?.closest("details:not([open])")) closed.push(part);
      for (const part of closed) part.open = true;
      if (closed.length) here.scrollIntoView();
    }
    if (!id || here) return;
    if (elsewhere.has(id)) location.replace(elsewhere.get(id) + location.hash);
    else if (everywhere) location.replace(`index.html${location.hash}`);
  };
  window.addEventListener("hashchange", lead);
  lead();
  const most = 100;
  const list = (words) => {
    const found = words.length ? cells.filter((cell) => words.every((word) => cell.text.includes(word))) : [];
    const section = document.getElementById("matches");
    section.hidden = !found.length;
    section.querySelector("ol").replaceChildren(...found.slice(0, most).map((cell) => {
      const [item, link, rest] = ["li", "a", "span"].map((name) => document.createElement(name));
      link.href = `${elsewhere.get(cell.id)}#${encodeURIComponent(cell.id).replaceAll("%2F", "/")}`;
      link.textContent = cell.label;
      rest.className = "on";
      rest.textContent = ` ${cell.title}: ${cell.words}`;
      item.append(link, rest);
      return item;
    }));
    const more = section.querySelector("p");
    more.hidden = found.length <= most;
    more.textContent = `And ${found.length - most} more: another word finds fewer.`;
    return found.length;
  };

  // Ratios of a heat map to the baseline that a reader picks; `heat` of charts/heat.py has the same steps.
  const pick = document.getElementById("baseline");
  const digits = (value) => {
    if (value >= 99.95) return Math.round(value).toLocaleString("en");
    if (value >= 9.995) return value.toFixed(1);
    if (value >= 0.9995) return value.toFixed(2);
    return value >= 0.001 ? value.toFixed(3) : value.toPrecision(2);
  };
  const heat = (ratio) => {
    const away = ratio >= 1 ? ratio : 1 / ratio;
    const steps = [1.02, 1.25, 2].filter((step) => away >= step).length;
    return ratio >= 1 ? steps : 0 - steps;
  };
  const drawn = pick ? all("table.heatmap tbody tr").map((row) => [...row.cells].slice(1).map((cell) => [cell, cell.className, cell.textContent])) : [];
  const means = pick ? [...document.querySelector("table.heatmap tfoot tr").cells].slice(1) : [];
  const first = means.map((cell) => cell.textContent);
  const rebase = () => {
    const column = pick.value === "" ? null : Number(pick.value);
    const sums = means.map(() => [0, 0]);
    for (const row of drawn) {
      const base = column === null ? null : row[column][0].dataset;
      row.forEach(([cell, name, text], place) => {
        const link = cell.querySelector("a");
        if (!link || cell.dataset.rate === undefined) return;
        if (column === null) { cell.className = name; link.textContent = text; return; }
        const verdict = cell.dataset.verdicts[column];
        const other = verdict === "x" || (verdict === " " && place !== column && (cell.dataset.apart !== undefined || base.apart !== undefined));
        const ratio = base.rate === undefined || (other && place !== column) ? null : cell.dataset.rate / base.rate;
        cell.className = ratio === null ? "" : `heat${heat(ratio)}${place === column ? " base" : ""}`;
        link.textContent = ratio !== null ? `${verdict === "=" || verdict === "?" ? "≈ " : ""}${digits(ratio)}` : base.rate === undefined ? "–" : "≠";
        if (ratio !== null) { sums[place][0] += Math.log(ratio); sums[place][1] += 1; }
      });
    }
    means.forEach((cell, place) => {
      const [sum, count] = sums[place];
      cell.textContent = column === null ? first[place] : count ? digits(Math.exp(sum / count)) : "–";
    });
  };
  if (pick) {
    pick.closest("p").hidden = false;
    const asked = new URLSearchParams(location.search).get("baseline");
    const named = [...pick.options].find((option) => option.textContent === asked);
    if (named) { pick.value = named.value; rebase(); }
    pick.addEventListener("change", () => {
      rebase();
      const address = new URL(location.href);
      if (pick.value === "") address.searchParams.delete("baseline");
      else address.searchParams.set("baseline", pick.selectedOptions[0].textContent);
      try { history.replaceState(null, "", address); } catch { /* a page from disk may keep its address */ }
    });
  }

  // Every word must be in a row. A cell that its ranking shows keeps its lanes in charts and its rows elsewhere.
  const filter = document.getElementById("filter");
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const holds = (element, more = "") => {
      const text = `${element.textContent} ${more}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const kept = new Set();
    const ranked = all("tr[data-cell]");
    for (const section of all("section.group")) {
      const title = section.querySelector("h2").textContent;
      const mine = all("tr[data-cell]", section);
      for (const row of mine) {
        row.hidden = !holds(row, title);
        if (!row.hidden) kept.add(row.dataset.cell);
      }
      section.hidden = mine.every((row) => row.hidden);
    }
    for (const part of all("[data-of]")) part.hidden = !kept.has(part.dataset.of);
    const rest = all(".finding, table.filtered tbody tr:not([data-cell]):not([data-of])");
    for (const part of rest) part.hidden = !holds(part);
    if (everywhere) {
      everywhere.hidden = !words.length;
      everywhere.href = `index.html?filter=${encodeURIComponent(filter.value)}`;
    }
    if (directory) {
      const count = list(words);
      document.getElementById("shown").textContent = words.length ? `${count} of ${cells.length} cells` : "";
      return;
    }
    const [shown, of] = ranked.length ? [kept.size, ranked.length] : [rest.filter((part) => !part.hidden).length, rest.length];
    document.getElementById("shown").textContent = words.length ? `${shown} of ${of} ${ranked.length ? "cells" : "rows"}` : "";
  };
  filter.addEventListener("input", apply);
  filter.closest("search").hidden = false;
  filter.value = new URLSearchParams(location.search).get("filter") ?? "";
  if (filter.value) apply();

  window.addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));
})();
