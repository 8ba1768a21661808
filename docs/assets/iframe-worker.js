// The worker that searches these pages. Two things are changed, and both before the theme starts it:
// a page that is opened from disk may start no worker, so that the search runs in a hidden frame of the page;
// and a question is asked by its words that say something, since the search completes each word: "do" finds "doctor".
"use strict";
(() => {
  const SAYS_NOTHING = new Set(("a an and any are be by can do does for from get have how i if in is it its make mean " +
    "me my of on or our set should so that the their there to up use want was what when where which who why will " +
    "with you your").split(" "));
  const QUERY = 2;

  function asked(message) {
    if (message.type !== QUERY) return message;
    const words = message.data.split(/\s+/).filter((word) => !SAYS_NOTHING.has(word.replace(/\W/g, "").toLowerCase()));
    return words.length ? { ...message, data: words.join(" ") } : message;
  }

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
      inside.dispatchEvent(new inside.MessageEvent("message", { data: structuredClone(asked(data)) }));
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

  const Started = window.Worker;
  window.Worker = location.protocol === "file:" ? WorkerInFrame : class extends Started {
    postMessage(data, ...more) {
      super.postMessage(asked(data), ...more);
    }
  };
})();
