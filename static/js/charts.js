// Draws every <div class="chart"> from the figure dict in the <script type="application/json"> inside it.
// Figures name colours ("@accent", "@running/30" = 30 % opacity); they are looked up in app.css when drawn, so one figure
// serves light and dark. The server sends figures, this file owns their look; a page never styles a chart.
// Times travel as milliseconds since 1970; Plotly knows no zones, so they are moved to the reader's wall clock when drawn.
import { clock, zoneOffset } from "./formats.js";
import { smoothed } from "./smoothing.js";
import { startZoom } from "./zoom.js";

const probe = document.createElement("span");
probe.hidden = true;

const color = (token) => {
  const [name, opacity] = token.slice(1).split("/");
  probe.style.color = `var(--${name})`;
  const rgb = getComputedStyle(probe).color;
  return opacity ? rgb.replace("rgb(", "rgba(").replace(")", `, ${opacity / 100})`) : rgb;
};
const isNumbers = (v) => Array.isArray(v) && typeof v[0] === "number";
const resolve = (v) => {
  if (typeof v === "string") return /^@[a-z]/.test(v) ? color(v) : v;
  if (Array.isArray(v)) return isNumbers(v) ? v : v.map(resolve);
  if (v && typeof v === "object") return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, resolve(x)]));
  return v;
};
// Keys of `over` win; objects are merged, everything else is replaced.
const merge = (base, over) => {
  const out = { ...base };
  for (const [k, v] of Object.entries(over ?? {})) {
    const both = v && out[k] && typeof v === "object" && typeof out[k] === "object" && !Array.isArray(v);
    out[k] = both ? merge(out[k], v) : v;
  }
  return out;
};

const axis = () => ({
  gridcolor: "@line", linecolor: "@line", zeroline: false, ticks: "", automargin: true, fixedrange: true,
  tickfont: { size: 11, color: "@faint" }, title: { font: { size: 11, color: "@muted" }, standoff: 8 },
});
const template = () => resolve({
  font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: "@muted" },
  paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
  colorway: ["@accent", "@baseline", "@series-2", "@series-3", "@series-4"],
  margin: { l: 44, r: 16, t: 12, b: 32 },
  xaxis: { ...axis(), showgrid: false }, yaxis: { ...axis(), rangemode: "tozero" }, yaxis2: { ...axis(), showgrid: false },
  hovermode: "x unified", hoverdistance: 40,
  hoverlabel: { bgcolor: "@raised", bordercolor: "@line", font: { size: 12, color: "@ink" }, align: "left" },
  legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12, color: "@muted" }, itemclick: false, itemdoubleclick: false },
  bargap: 0.3, bargroupgap: 0.12, barcornerradius: 2, showlegend: false,
});
const config = { displayModeBar: false, staticPlot: false };
// A chart follows its card, which may grow with what stands beside it.
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const plot = target.querySelector(".plot");
    if (plot && target.clientHeight) Plotly.Plots.resize(plot);
  }
});

// Long arrays are thinned for drawing; the note under the chart says so.
const LIMIT = 2000;
const thin = (trace) => {
  const n = trace.x?.length ?? 0;
  if (n <= LIMIT) return trace;
  const step = Math.ceil(n / LIMIT);
  const keep = (a) => (Array.isArray(a) && a.length === n ? a.filter((_, i) => i % step === 0 || i === n - 1) : a);
  return Object.fromEntries(Object.entries(trace).map(([k, v]) => [k, keep(v)]));
};

const draw = (el) => {
  el.figure = JSON.parse(el.querySelector("script").textContent);
  // A selection beside the chart shows one trace of several.
  const { chosen } = el.dataset;
  if (chosen) el.figure.data.forEach((trace) => (trace.visible = trace.meta === chosen));
  redraw(el);
};
const isTime = (figure) => figure.layout?.xaxis?.type === "date";
const zoned = (figure) => {
  if (!isTime(figure)) return figure;
  // Written out without a zone: Plotly takes a bare number for a moment of the browser's own zone and would shift it again.
  const local = (x) => (typeof x === "number" ? new Date(x + zoneOffset(x)).toISOString().slice(0, -1) : x);
  const move = (object) => (object.xref === "paper" ? object : { ...object, ...Object.fromEntries(["x", "x0", "x1"].filter((k) => k in object).map((k) => [k, local(object[k])])) });
  const layout = { ...figure.layout, shapes: figure.layout.shapes?.map(move), annotations: figure.layout.annotations?.map(move) };
  if (layout.xaxis.range) layout.xaxis = { ...layout.xaxis, range: layout.xaxis.range.map(local) };
  return { ...figure, data: figure.data.map((trace) => ({ ...trace, x: trace.x.map(local), y: [...trace.y] })), layout };
};
// A part that somebody zoomed into has points of its own.
const visible = (el) => el.figure.data.map((trace) => ({ ...trace, ...el.zoomed?.lines[trace.meta] }));
const zoomLayout = (el) => {
  if (!el.dataset.points) return {};
  const axis = { fixedrange: false, ...(el.zoomed && { range: el.zoomed.range, autorange: false }) };
  return { xaxis: axis, dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom" };
};
const redraw = (el) => {
  // Copies: Plotly takes the same array for the same points, and lines grow in place.
  const data = visible(el).map((trace) => thin({ ...trace, x: [...trace.x], y: [...trace.y] })).flatMap(smoothed);
  const figure = zoned({ ...el.figure, data });
  let plot = el.querySelector(".plot");
  const isNew = !plot;
  if (isNew) {
    plot = document.createElement("div");
    plot.className = "plot";
    el.append(plot);
  }
  const narrow = el.clientWidth < 420;
  const own = merge(merge(template(), resolve(figure.layout)), narrow ? resolve(figure.narrow ?? {}) : {});
  const layout = merge(own, zoomLayout(el));
  el.classList.toggle("is-empty", figure.data.every((trace) => trace.x.length === 0));
  Plotly.react(plot, resolve(figure.data), layout, config);
  if (isNew) sizes.observe(el);
  if (isNew && el.dataset.points) startZoom(el, plot, redraw);
  const numbers = el.nextElementSibling;
  if (numbers?.classList.contains("chart-table") && !numbers.hidden) numbers.replaceChildren(table(el.figure));
};

// The same numbers as a table, on demand. textContent only: names may come from people.
const cell = (tag, text, numeric) => {
  const el = document.createElement(tag);
  el.textContent = text;
  if (numeric) el.className = "num";
  return el;
};
const table = (figure) => {
  const out = document.createElement("table");
  out.className = "table-x";
  const traces = figure.data.filter((t) => t.name && t.visible !== false && t.meta !== "guide");
  if (!traces.length) return out;
  const [kx, ky] = traces[0].orientation === "h" ? ["y", "x"] : ["x", "y"];
  const xs = [...new Set(traces.flatMap((t) => t[kx]))];
  const written = (x) => (isTime(figure) ? clock(x) : String(x));
  const head = out.createTHead().insertRow();
  head.append(cell("th", figure.layout?.[`${kx}axis`]?.title?.text ?? ""), ...traces.map((t) => cell("th", t.name, true)));
  const body = out.createTBody();
  const every = Math.ceil(xs.length / 40);
  if (every > 1) out.createCaption().textContent = `1 of every ${every} of ${xs.length} rows`;
  xs.filter((_, i) => i % every === 0 || i === xs.length - 1).forEach((x) => {
    const cells = traces.map((t) => t[ky][t[kx].indexOf(x)]);
    body.insertRow().append(cell("td", written(x)), ...cells.map((y) => cell("td", y == null ? "–" : String(y), true)));
  });
  return out;
};
const toggle = (button) => {
  const chart = document.getElementById(button.getAttribute("aria-controls"));
  let numbers = chart.nextElementSibling;
  if (!numbers?.classList.contains("chart-table")) {
    numbers = document.createElement("div");
    numbers.className = "chart-table";
    numbers.tabIndex = 0;
    numbers.hidden = true;
    chart.after(numbers);
  }
  if (numbers.hidden) numbers.replaceChildren(table(chart.figure));
  numbers.hidden = !numbers.hidden;
  chart.hidden = !numbers.hidden;
  button.setAttribute("aria-expanded", String(!numbers.hidden));
};

const drawAll = () => document.querySelectorAll(".chart").forEach((el) => el.querySelector("script") && draw(el));
const redrawAll = () => document.querySelectorAll(".chart").forEach((el) => el.figure && redraw(el));
document.body.append(probe);
drawAll();
// A part of the page that came later brings its charts.
document.addEventListener("htmx:load", ({ detail }) => {
  for (const el of detail.elt.querySelectorAll(".chart")) if (!el.figure && el.querySelector("script")) draw(el);
});
document.addEventListener("click", (e) => {
  const button = e.target.closest("[data-numbers]");
  if (button) toggle(button);
});
document.addEventListener("change", (e) => {
  const chart = e.target.dataset.chooses && document.getElementById(e.target.dataset.chooses);
  if (!chart) return;
  chart.dataset.chosen = e.target.value;
  draw(chart);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
addEventListener("themechange", redrawAll);
addEventListener("smoothing", redrawAll);
window.charts = { draw, redraw };
