// New points of live charts. The server sends [line, x, value]; a line is the `meta` of a trace. A chart is redrawn at most four
// times a second. A figure whose layout names a window (ms) shows that much of the newest past, and breaks its lines at gaps.
import { tokens } from "./formats.js";
import { onStream } from "./live.js";

const WRITTEN = {
  tokens,
  decimal: (value) => value.toFixed(2),
  percent: (share) => `${Math.round(100 * share)}%`,
};

const redrawn = (chart) => {
  let timer = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      window.charts.redraw(chart);
    }, 250);
  };
};

const move = ({ layout }, trace, x) => {
  const { window: length, gap } = layout.meta ?? {};
  if (!length) return;
  if (x - trace.x.at(-1) > gap) {
    trace.x.push(x - 1);
    trace.y.push(null);
  }
  while (trace.x[0] < x - length) {
    trace.x.shift();
    trace.y.shift();
  }
  layout.xaxis.range = [x - length, x];
};

export const startPoints = (elements) => {
  const charts = [...elements].map((element) => ({ element, redraw: redrawn(element) }));
  const add = ({ element, redraw }, line, x, value) => {
    const { figure } = element;
    const trace = figure?.data.find(({ meta }) => meta === line);
    if (!trace || trace.x.at(-1) > x) return;
    move(figure, trace, x);
    trace.x.push(x);
    trace.y.push(value);
    const label = figure.layout.annotations?.find(({ name }) => name === line);
    const write = WRITTEN[element.dataset.written];
    const text = `${label?.mark ? `${label.mark} ` : ""}${trace.name} ${write(value)}`;
    // A label of a column has its place; one at the end of its line goes with it.
    if (label) Object.assign(label, label.xref === "paper" ? {} : { x, y: value }, { text, visible: true });
    redraw();
  };
  const take = (entries) => {
    for (const [, [line, x, value]] of entries) for (const chart of charts) add(chart, line, x, value);
  };
  onStream("points", { after: Number(elements[0].dataset.after), take });
};
