// Smoothing of chart lines: an exponential moving average, debiased at its start, whose weight stands in the address.
const FAINT = 0.28;

export const weight = () => {
  const said = Number(new URLSearchParams(location.search).get("smooth"));
  return said > 0 && said < 1 ? said : 0;
};

const average = (values, w) => {
  let sum = 0;
  let share = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    sum = w * sum + (1 - w) * value;
    share = w * share + (1 - w);
    return sum / share;
  });
};

// One trace, or the raw one faint with the smooth one over it.
export const smoothed = ({ smooths, ...trace }) => {
  const w = smooths ? weight() : 0;
  if (!w) return [trace];
  const raw = { ...trace, opacity: FAINT, hoverinfo: "skip", showlegend: false };
  return [raw, { ...trace, y: average(trace.y, w), line: { ...trace.line, width: 2, dash: "solid" } }];
};

const sliders = document.querySelectorAll("[data-smooths]");
const show = () => {
  const w = weight();
  for (const slider of sliders) {
    slider.value = w;
    slider.nextElementSibling.textContent = w ? w.toFixed(2) : "off";
  }
};
for (const slider of sliders) {
  slider.addEventListener("input", () => {
    const url = new URL(location.href);
    if (Number(slider.value)) url.searchParams.set("smooth", slider.value);
    else url.searchParams.delete("smooth");
    history.replaceState(history.state, "", url);
    show();
    dispatchEvent(new Event("smoothing"));
  });
}
show();
