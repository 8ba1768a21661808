// A page that is opened from disk may start no worker. There, the search runs in a hidden frame of the page instead.
"use strict";
(() => {
  if (location.protocol !== "file:") return;

  class WorkerInFrame extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
      inside.importScripts = (...scripts) => scripts.reduce(
        (before, script) => before.then(() => load(inside.document, script)), Promise.resolve());
      load(inside.document, url).then(() => {
        this.loaded = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    postMessage(data) {
      if (!this.loaded) return void this.waiting.push(data);
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data: structuredClone(data) }));
    }

    terminate() {
      this.frame.remove();
    }
  }

  function load(page, url) {
    return new Promise((resolve, reject) => {
      const script = page.createElement("script");
      Object.assign(script, { src: new URL(url, location.href).href, onload: resolve, onerror: reject });
      page.body.append(script);
    });
  }

  window.Worker = WorkerInFrame;
})();
