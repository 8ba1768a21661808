// Names for screen readers that the theme leaves out. It adds parts of a page after the page is there.
"use strict";
(() => {
  function name() {
    document.querySelectorAll(".md-search[role=dialog]").forEach((dialog) => dialog.setAttribute("aria-label", "Search"));
    document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav) =>
      nav.setAttribute("aria-label", `Code block ${[...document.querySelectorAll(".md-code__nav")].indexOf(nav) + 1}`));
  }
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
})();
