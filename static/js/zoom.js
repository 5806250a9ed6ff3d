// Zooming into a chart: the visible part of its lines is loaded in full from data-points, and let go again afterwards.
import { count, zoneOffset } from "./formats.js";

const isTime = (el) => el.figure.layout?.xaxis?.type === "date";
// Plotly says a moment of a time axis as the reader's wall clock, without its zone.
const asNumber = (el, value) => {
  if (!isTime(el)) return Number(value);
  const wall = typeof value === "number" ? value : Date.parse(`${value.replace(" ", "T")}Z`);
  return wall - zoneOffset(wall);
};

const button = (el, whole) => {
  let found = el.querySelector(".chart-whole");
  if (!found) {
    found = document.createElement("button");
    found.type = "button";
    found.className = "btn btn-s chart-whole";
    found.addEventListener("click", () => whole());
    el.append(found);
  }
  return found;
};

// Calls redraw(el) when what is visible has changed; el.zoomed is { range, lines } while somebody looks at a part.
export const startZoom = (el, plot, redraw) => {
  const whole = () => {
    el.zoomed = null;
    button(el, whole).hidden = true;
    redraw(el);
  };
  const load = async (range) => {
    const lines = el.figure.data.map(({ meta }) => meta).filter((meta) => meta && meta !== "guide");
    const query = new URLSearchParams({ lines, from: asNumber(el, range[0]), to: asNumber(el, range[1]) });
    const answer = await fetch(`${el.dataset.points}?${query}`, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`points: ${answer.status}`);
    const found = await answer.json();
    if (el.zoomed?.range !== range) return; // another part is looked at by now
    // A line without points here is empty, so that the other axis fits what is seen.
    el.zoomed = { range, lines: Object.fromEntries(lines.map((line) => [line, found.lines[line] ?? { x: [], y: [] }])) };
    button(el, whole).textContent =
      found.drawn < found.total ? `${count(found.drawn)} of ${count(found.total)} points here; show the whole` : `All ${count(found.total)} points here; show the whole`;
    redraw(el);
  };
  plot.on("plotly_relayout", (change) => {
    if (change["xaxis.autorange"]) whole();
    if (change["xaxis.range[0]"] === undefined) return;
    const range = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    el.zoomed = { range, lines: {} };
    button(el, whole).hidden = false;
    button(el, whole).textContent = "Show the whole";
    load(range);
  });
};
