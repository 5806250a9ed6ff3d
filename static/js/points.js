// New points of a live chart. The server sends [series, time in ms, value]; a chart is redrawn at most four times a second.
import { tokens } from "./formats.js";
import { onStream } from "./live.js";

export const startPoints = (chart) => {
  let timer = null;
  const redraw = () => {
    timer ??= setTimeout(() => {
      timer = null;
      window.charts.redraw(chart);
    }, 250);
  };
  const take = (entries) => {
    const { figure } = chart;
    if (!figure) return;
    for (const [, [series, at, value]] of entries) {
      const trace = figure.data.find(({ meta }) => meta === series);
      if (!trace || trace.x.at(-1) > at) continue;
      trace.x.push(at);
      trace.y.push(value);
      const label = figure.layout.annotations?.find(({ name }) => name === series);
      if (label) Object.assign(label, { x: at, y: value, text: `${trace.name} ${tokens(value)}`, visible: true });
    }
    redraw();
  };
  onStream("points", { after: Number(chart.dataset.after), take });
};
