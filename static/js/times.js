// Moments in the reader's zone, ages that tick. Ages count from the server's clock, and stop while the page is cut off.
import { clock, day, duration, exact } from "./formats.js";

let offset = 0; // server's clock minus this machine's, in ms
let stoppedAt = null;

export const now = () => stoppedAt ?? Date.now() + offset;
export const setServerTime = (ms) => {
  // A message is late, never early: the largest difference seen is nearest to the truth, and drifts back slowly.
  const seen = ms - Date.now();
  offset = offset === 0 || Math.abs(seen - offset) > 2000 ? seen : Math.max(seen, offset - 5);
  stoppedAt = null;
};
export const stopClocks = (at) => {
  stoppedAt = at;
  tick();
};

const write = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

const show = (element) => {
  const at = Date.parse(element.dateTime);
  if (Number.isNaN(at)) return;
  const age = Math.max(0, (now() - at) / 1000);
  const how = element.dataset.as;
  if (how === "age") write(element, duration(age));
  else if (how === "ago") write(element, `${duration(age)} ago`);
  else if (how === "in") write(element, duration(Math.max(0, (at - now()) / 1000)));
  else if (how === "day") write(element, day(at, now()));
  else write(element, clock(at, how !== "short"));
  if (how === "age") fill(element.closest(".clock"), age);
};

const fill = (box, age) => {
  const bar = box?.querySelector("rect");
  bar?.setAttribute("width", `${Math.min(100, Math.round((100 * age) / Number(box.dataset.limit)))}%`);
};

export const refresh = (root) => {
  for (const element of root.querySelectorAll("time[datetime]")) {
    show(element);
    element.title = exact(Date.parse(element.dateTime));
  }
  for (const element of root.querySelectorAll("[data-zone-name]")) {
    write(element, clock(now()).split(" ").pop());
  }
};

const tick = () => {
  for (const element of document.querySelectorAll('time[data-as="age"], time[data-as="ago"], time[data-as="in"]')) show(element);
};

refresh(document);
document.addEventListener("htmx:load", (event) => refresh(event.detail.elt));
setInterval(tick, 500);
