"use strict";
// A figure leaves the page as a picture or as its figures. The clipboard is closed to pages of plain HTTP; then it is saved.
(() => {
  const PROPERTIES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order", "visibility"];

  const standalone = (drawn) => {
    const copy = drawn.cloneNode(true);
    const [from, to] = [drawn, copy].map((root) => [root, ...root.querySelectorAll("*")]);
    from.forEach((element, place) => {
      const style = getComputedStyle(element);
      for (const name of PROPERTIES) {
        const value = style.getPropertyValue(name);
        if (value) to[place].setAttribute(name, value);
      }
      to[place].removeAttribute("class");
      to[place].removeAttribute("tabindex");
    });
    const { width, height } = drawn.viewBox.baseVal;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const paper = bench.s("rect", { width, height, fill: getComputedStyle(document.body).getPropertyValue("--surface").trim() || "#fff" });
    copy.prepend(paper);
    return new XMLSerializer().serializeToString(copy);
  };

  const png = (text) => new Promise((done, failed) => {
    const picture = new Image();
    const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    picture.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [picture.width * 2, picture.height * 2];
      const context = canvas.getContext("2d");
      context.scale(2, 2);
      context.drawImage(picture, 0, 0);
      URL.revokeObjectURL(address);
      canvas.toBlob((blob) => blob ? done(blob) : failed(new Error("no picture")), "image/png");
    };
    picture.onerror = () => failed(new Error("no picture"));
    picture.src = address;
  });

  const save = (blob, name) => {
    const address = URL.createObjectURL(blob);
    const link = bench.h("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    return `saved as ${name}`;
  };

  // A spreadsheet runs a text that begins like a formula; a quote before it keeps it a text.
  const field = (value) => {
    if (value === null || value === undefined || (typeof value === "number" && Number.isNaN(value))) return "";
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  bench.csv = (rows) => rows.map((row) => row.map(field).join(",")).join("\n") + "\n";

  const copied = async (kind, text, name) => {
    const blob = kind === "PNG" ? await png(text) : new Blob([text], { type: kind === "SVG" ? "image/svg+xml" : "text/plain" });
    try {
      if (kind === "PNG") await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      else await navigator.clipboard.writeText(text);
      return "copied";
    } catch {
      return save(blob, `${name}.${{ PNG: "png", SVG: "svg", CSV: "csv" }[kind] ?? "txt"}`);
    }
  };

  bench.copied = copied;
  bench.standalone = standalone;
})();
