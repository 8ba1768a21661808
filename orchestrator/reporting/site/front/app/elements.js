"use strict";
// Elements are made here alone. Texts become text nodes, so that no log, name or version is ever read as HTML.
(() => {
  const space = "http://www.w3.org/2000/svg";

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    add(element, children);
    return element;
  };
  const add = (element, children) => {
    for (const child of children) {
      if (child === null || child === undefined || child === false) continue;
      if (Array.isArray(child)) add(element, child);
      else element.append(child instanceof Node ? child : String(child));
    }
  };

  bench.h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  bench.s = (name, attributes, ...children) => fill(document.createElementNS(space, name), attributes, children);
  bench.replace = (element, ...children) => {
    element.replaceChildren();
    add(element, children);
    return element;
  };
  bench.heading = (level, text, ...more) => bench.h(`h${level}`, level === 1 ? { tabindex: "-1" } : {}, text, ...more);
  bench.facts = (pairs) => bench.h("dl", { class: "facts" }, pairs
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => bench.h("div", {}, bench.h("dt", {}, name), bench.h("dd", {}, value))));
  bench.chip = (text, mark) => bench.h("span", { class: `chip ${mark}` }, text);
  bench.status = (status) => bench.chip(status, status === "ok" ? "good" : ["not_run", "no_device", "unsupported"].includes(status) ? "plain" : "bad");
})();
