"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const phases = ["create", "import", "data", "build", "first_step", "warmup", "steady", "latency"];
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const phone = () => window.innerWidth < 560;

  // A label on two lines where it would take the room of the drawing.
  const wrapped = (label) => {
    const most = phone() ? 15 : 24;
    const lines = [""];
    for (const word of label.split(" ")) {
      const last = lines.length - 1;
      if (lines[last] && (lines[last] + " " + word).length > most) lines.push(word);
      else lines[last] = (lines[last] + " " + word).trim();
    }
    return lines.join("<br>").replace(/&/g, "&amp;");
  };
  const safe = (text) => text.replace(/</g, "&lt;");
  const axis = (more) => ({
    gridcolor: token("--line"), linecolor: token("--line"), zeroline: false, automargin: true, exponentformat: "SI", fixedrange: true,
    tickfont: { color: token("--muted") }, ...more,
  });
  const layout = (cells, height, more) => ({
    height, margin: { l: 8, r: 14, t: 8, b: 32 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: token("--ink") },
    hoverlabel: { bgcolor: token("--surface"), bordercolor: token("--line"), font: { color: token("--ink") } },
    xaxis: axis({ rangemode: "tozero", nticks: phone() ? 5 : 9 }),
    yaxis: axis({
      autorange: "reversed", showgrid: false, tickvals: cells.map((_, row) => row), ticklabelstandoff: 6,
      ticktext: cells.map((cell) => wrapped(safe(cell.label))), tickfont: { color: token("--ink") },
    }),
    showlegend: false, ...more,
  });

  const draw = {
    throughput: (cells) => {
      const accent = token("--accent");
      const points = { x: [], y: [], text: [] };
      cells.forEach((cell, row) => cell.repeats.forEach((value, repeat) => {
        points.x.push(value);
        points.y.push(row + 0.22 * (cell.repeats.length > 1 ? (2 * repeat) / (cell.repeats.length - 1) - 1 : 0));
        points.text.push(safe(cell.label));
      }));
      const known = cells.map((cell) => cell.low !== null);
      return [[
        {
          type: "bar", orientation: "h", x: cells.map((cell) => cell.value), y: cells.map((_, row) => row), width: 0.62,
          marker: { color: token("--accent-soft") }, hoverinfo: "skip",
          error_x: {
            type: "data", symmetric: false, color: token("--ink"), thickness: 1.6, width: 5,
            array: cells.map((cell, row) => (known[row] ? cell.high - cell.value : 0)),
            arrayminus: cells.map((cell, row) => (known[row] ? cell.value - cell.low : 0)),
          },
        },
        {
          type: "scatter", mode: "markers", ...points, hovertemplate: "%{text}<br>%{x:,.5~r} samples/s<extra></extra>",
          marker: { color: accent, size: phone() ? 5.5 : 7, opacity: 0.85, line: { color: token("--surface"), width: 1 } },
        },
      ], layout(cells, 46 + 44 * cells.length)];
    },
    latency: (cells) => [
      cells.map((cell, row) => ({
        type: "box", orientation: "h", x: cell.steps_ms, y: cell.steps_ms.map(() => row), boxpoints: "outliers", width: 0.5,
        line: { color: token("--accent"), width: 1.4 }, fillcolor: token("--accent-soft"), name: safe(cell.label),
        marker: { size: 3.5, color: token("--accent"), opacity: 0.6 }, hoverinfo: "x",
      })),
      layout(cells, 80 + 46 * cells.length),
    ],
    phases: (cells) => [
      phases.map((phase, index) => ({
        type: "bar", orientation: "h", name: phase.replace("_", " "), y: cells.map((_, row) => row), width: 0.55,
        x: cells.map((cell) => cell.phases_s[phase] ?? 0), marker: { color: token(`--phase-${index + 1}`) },
        hovertemplate: `${phase.replace("_", " ")}: %{x:.3~r} s<extra></extra>`,
      })),
      layout(cells, 80 + 46 * cells.length, {
        barmode: "stack", showlegend: true,
        legend: { orientation: "h", traceorder: "normal", y: 1, yanchor: "bottom", x: 0, font: { color: token("--muted"), size: 11 } },
        margin: { l: 8, r: 14, t: phone() ? 56 : 34, b: 32 },
      }),
    ],
  };

  const render = (chart) => {
    const cells = data[chart.dataset.group];
    if (!cells || !window.Plotly) return;
    const [traces, where] = draw[chart.dataset.kind](cells);
    Plotly.react(chart, traces, where, { displayModeBar: false, responsive: true });
    chart.dataset.drawn = "true";
  };
  const charts = [...document.querySelectorAll(".chart")];
  const again = (all) => charts.filter((chart) => all || chart.dataset.drawn).forEach(render);
  const seen = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
    seen.unobserve(entry.target);
    render(entry.target);
  }), { rootMargin: "600px" });
  charts.forEach((chart) => seen.observe(chart));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again(false));
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
    again(true);
  });

  // Numbers sort as numbers, words as words, and what is unknown stays at the end.
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" || text === "–" ? null : text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  };
  const order = (a, b, sign) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const head = event.target.closest("button")?.closest("th");
      if (!head) return;
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = { ascending: "descending", descending: "ascending" };
      const now = head.ariaSort ? other[head.ariaSort] : first;
      for (const th of head.parentElement.cells) th.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", now);
      const body = table.tBodies[0];
      const rows = [...body.rows];
      rows.sort((a, b) => order(value(a, head.cellIndex), value(b, head.cellIndex), now === "ascending" ? 1 : -1));
      body.append(...rows);
    });
  }
})();
