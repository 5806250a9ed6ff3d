// One WebSocket a page: a snapshot, then numbered deltas. After a cut it tells the server where it was, and gets what it missed.
import { clock } from "./formats.js";
import { now, setServerTime, stopClocks } from "./times.js";
import { swap } from "./swap.js";
import { setTitle, showTrouble } from "./trouble.js";

const SILENCE = 5000; // ms; the server says something every two seconds
const LONGEST_WAIT = 15_000;

const topics = (document.body.dataset.live ?? "").split(" ").filter(Boolean);
const cursors = Object.fromEntries(topics.map((topic) => [topic, {}]));
const streams = new Map(); // name → { after: number | null, take(entries, skipped) }

let socket = null;
let heard = 0; // when a message came, by this machine's clock
let said = null; // and when the server sent it, by its own
let tries = 0;
let cutAt = null;
let nextTry = null;
let retryTimer = null;

export const onStream = (name, handler) => streams.set(name, handler);

const status = document.getElementById("live");
const banner = document.getElementById("cut");
const say = (text) => {
  if (status) status.firstElementChild.textContent = text;
};

const subscribe = () => {
  const after = Object.fromEntries([...streams].map(([name, stream]) => [name, stream.after]).filter(([, n]) => n !== null));
  const wanted = Object.fromEntries(topics.map((topic, i) => [topic, { ...cursors[topic], streams: i === 0 ? after : {} }]));
  socket.send(JSON.stringify({ subscribe: wanted }));
};

const take = (message) => {
  const cursor = cursors[message.topic];
  if (message.type === "delta" && (cursor.epoch !== message.epoch || cursor.n !== message.from)) {
    socket.close(4000, "a number is missing");
    return;
  }
  cursors[message.topic] = { epoch: message.epoch, n: message.n };
  swap(message.fragments);
  if (message.title !== undefined) setTitle(message.title);
  showTrouble();
  for (const [name, { entries, skipped }] of Object.entries(message.streams)) {
    const stream = streams.get(name);
    if (!stream) continue;
    stream.take(entries, skipped);
    stream.after = entries.at(-1)[0];
  }
};

const onMessage = (event) => {
  const message = JSON.parse(event.data);
  heard = Date.now();
  said = message.t;
  setServerTime(message.t);
  if (message.type === "stalled") showCut(message.since, "The database does not answer");
  else {
    if (message.topic) take(message);
    showLive();
  }
};

const showLive = () => {
  tries = 0;
  cutAt = null;
  status?.classList.remove("is-cut");
  document.body.classList.remove("is-stale");
  if (banner) banner.hidden = true;
};

const showCut = (since, why) => {
  stopClocks(since);
  cutAt = since;
  status?.classList.add("is-cut");
  document.body.classList.add("is-stale");
  say("Reconnecting");
  if (!banner) return;
  banner.hidden = false;
  banner.querySelector("b").textContent = `${why} since ${clock(since)}.`;
};

const retryIn = (ms) => {
  clearTimeout(retryTimer);
  nextTry = Date.now() + ms;
  retryTimer = setTimeout(connect, ms);
};

const onClose = (event) => {
  if (socket !== event.target) return;
  socket = null;
  if ([4401, 4403, 4404].includes(event.code)) {
    location.reload(); // signed out, rights taken away, or deleted: the server says what to show
    return;
  }
  showCut(cutAt ?? said ?? now(), "Reconnecting");
  // Spread out, so that a hundred pages do not come back in the same moment after a restart.
  retryIn(event.code === 4000 ? 0 : Math.min(LONGEST_WAIT, 500 * 2 ** tries) * (0.75 + Math.random() / 2));
  tries += 1;
};

const connect = () => {
  clearTimeout(retryTimer);
  nextTry = null;
  socket?.close();
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/live/`);
  heard = Date.now();
  socket.addEventListener("open", subscribe);
  socket.addEventListener("message", onMessage);
  socket.addEventListener("close", onClose);
};

const watch = () => {
  if (socket && Date.now() - heard > SILENCE) {
    const silent = socket;
    silent.close();
    onClose({ target: silent, code: 1006 }); // a dead network would keep "close" from coming for minutes
  }
  if (cutAt === null && socket) say(`Live ${clock(now())}`);
  const wait = banner?.querySelector("[data-next-try]");
  if (wait) wait.textContent = nextTry ? `next try in ${Math.max(0, Math.ceil((nextTry - Date.now()) / 1000))} s` : "trying now";
};

export const start = () => {
  if (!topics.length) return;
  banner?.querySelector("button").addEventListener("click", connect);
  addEventListener("online", connect);
  connect();
  setInterval(watch, 500);
};
