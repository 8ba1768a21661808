"use strict";
// The data of the site. A page from disk may not fetch, so every document is a script that calls `bench.put`.
var bench = { views: {} };
(() => {
  const held = new Map();
  const asked = new Map();
  const ours = /^[a-z]-[0-9a-f]{16}$/;

  bench.put = (name, content) => held.set(name, content);
  bench.held = (name) => held.get(name);

  const load = (source) => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => done();
    script.onerror = () => failed(new Error(`${source} is missing: publish the site again`));
    document.head.append(script);
  });

  bench.load = load;

  // Returns a document at once if it is here, so that a view of what is loaded draws in the same frame.
  bench.need = (name) => {
    if (held.has(name)) return held.get(name);
    if (!ours.test(name)) return Promise.reject(new Error(`${name} is no document of this site`));
    if (!asked.has(name)) {
      asked.set(name, load(`data/${name}.js`).then(() => {
        if (!held.has(name)) throw new Error(`data/${name}.js is damaged: publish the site again`);
        return held.get(name);
      }).catch((error) => {
        asked.delete(name);  // a server may have it again
        throw error;
      }));
    }
    return asked.get(name);
  };

  // Charts alone need the library; the first page does without.
  let library = null;
  bench.library = () => {
    if (typeof d3 !== "undefined") return true;
    library ??= load("vendor/d3-7.9.2/d3.min.js");
    return library;
  };

  // Calls a function with values, at once if all of them are here.
  bench.when = (needed, then) =>
    needed.some((each) => each instanceof Promise) ? Promise.all(needed).then(then) : then(needed);

  bench.decoded = (column) => column.at.map((place) => column.of[place]);
  bench.unscaled = (column) => column ? column.v.map((value) => value === null ? null : value / 10 ** column.d) : [];
})();
