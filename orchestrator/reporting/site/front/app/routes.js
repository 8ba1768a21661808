"use strict";
// Every view is an address: `#/path?name=value`. Links lead to nothing else.
(() => {
  bench.address = (path, values = {}) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
      if (value !== null && value !== undefined && value !== "") query.set(name, value);
    }
    const text = query.toString();
    return `#/${path}${text ? `?${text}` : ""}`;
  };
  bench.place = () => {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    return { path, values: Object.fromEntries(new URLSearchParams(query)) };
  };
  bench.link = (text, path, values, attributes = {}) =>
    bench.h("a", { href: bench.address(path, values), ...attributes }, text);
  // A change of a control replaces the address: the way back leads to the view before.
  bench.change = (values) => {
    const now = bench.place();
    const next = { ...now.values, ...values };
    history.replaceState(null, "", bench.address(now.path, next));
    bench.show(false);
  };
})();
