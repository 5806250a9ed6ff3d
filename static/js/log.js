// The log of one attempt: follow, search in all of it, jump to the start, load more at either end. Lines are data, never HTML.
import { clock, count, exact, tokens } from "./formats.js";
import { onStream } from "./live.js";

const KEPT = 4000; // lines in the page; the rest is one scroll away
const WINDOW = 500;
const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) /; // as pipeline/logs.py writes it
const LEVELS = [[/\b(ERROR|CRITICAL|Traceback)\b/, "err"], [/\bWARN(ING)?\b/, "warn"]];

const span = (text, className) => {
  const element = document.createElement("span");
  element.textContent = text;
  if (className) element.className = className;
  return element;
};

const mark = (element, needle) => {
  const at = element.textContent.toLowerCase().indexOf(needle.toLowerCase());
  if (!needle || at < 0) return;
  const range = document.createRange();
  range.setStart(element.firstChild, at);
  range.setEnd(element.firstChild, at + needle.length);
  range.surroundContents(document.createElement("mark"));
};

// The moment at the start of a line, in the reader's zone. The search looks at the line as it was written, in UTC.
const timeOf = (stamp, needle) => {
  const at = Date.parse(stamp);
  const time = document.createElement("time");
  time.dateTime = stamp;
  time.textContent = clock(at, false);
  time.title = exact(at);
  if (needle && stamp.toLowerCase().includes(needle.toLowerCase())) mark(time, time.textContent);
  return time;
};

const lineOf = ([number, [text, leftOut]], needle) => {
  const item = document.createElement("li");
  item.dataset.n = number;
  const level = LEVELS.find(([pattern]) => pattern.test(text))?.[1];
  const [whole, stamp] = STAMP.exec(text) ?? [""];
  const known = stamp && !Number.isNaN(Date.parse(stamp));
  const body = span((known ? text.slice(whole.length) : text) || "\u00a0", level);
  mark(body, needle);
  item.append(span(number), ...(known ? [timeOf(stamp, needle)] : []), body);
  if (leftOut) body.append(span(` … ${tokens(leftOut)} bytes more in the download`, "faint"));
  return item;
};

export const startLog = (list) => {
  const { url } = list.dataset;
  const find = (name) => document.querySelector(`[data-log-${name}]`);
  const head = find("head");
  const earlier = find("earlier");
  const follow = find("follow");
  const search = find("search");
  const hits = find("hits");
  let first = 0; // numbers of the lines in the page
  let last = 0;
  let newest = 0;
  let following = true;
  let busy = false;
  let needle = "";

  const toEnd = () => {
    list.scrollTop = list.scrollHeight;
  };
  const show = () => {
    head.hidden = needle !== "" || first > 1;
    earlier.hidden = needle !== "" || first <= 1;
    earlier.firstElementChild.textContent = `${count(first - 1)} earlier lines`;
    find("empty").hidden = newest > 0;
    const unseen = following ? 0 : newest - last;
    follow.setAttribute("aria-pressed", String(following && !needle));
    follow.querySelector("span").textContent = unseen ? `Follow, ${count(unseen)} new` : "Follow";
  };
  const clear = () => list.querySelectorAll("[data-n]").forEach((item) => item.remove());
  const open = () => document.getElementById("log-open");
  const append = (entries) => {
    open().before(...entries.map((entry) => lineOf(entry, needle)));
    first ||= entries[0][0];
    last = entries.at(-1)[0];
  };
  const drop = () => {
    const lines = list.querySelectorAll("[data-n]");
    for (const item of [...lines].slice(0, Math.max(0, lines.length - KEPT))) item.remove();
    first = Number(list.querySelector("[data-n]")?.dataset.n ?? 0);
  };
  const get = async (query) => {
    const answer = await fetch(`${url}?${new URLSearchParams(query)}`, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`log: ${answer.status}`);
    return answer.json();
  };
  const load = async (query) => {
    const { lines } = await get(query);
    clear();
    first = 0;
    if (lines.length) append(lines);
    show();
  };

  const take = (entries, skipped) => {
    newest = entries.at(-1)[0];
    if (needle || !following) return show();
    if (skipped && first) clear();
    if (!first || skipped) first = entries[0][0];
    append(entries);
    drop();
    show();
    return toEnd();
  };

  const setFollowing = async (value) => {
    if (following === value) return;
    following = value;
    if (value && last < newest) await load({ after: Math.max(0, newest - WINDOW), count: WINDOW + 100 });
    show();
    if (value) toEnd();
  };

  const more = async (before) => {
    if (busy || needle) return;
    busy = true;
    try {
      if (before && first > 1) {
        const start = Math.max(0, first - 1 - WINDOW);
        const { lines } = await get({ after: start, count: first - 1 - start });
        const height = list.scrollHeight;
        list.querySelector("[data-n]").before(...lines.map((entry) => lineOf(entry, "")));
        first = lines[0]?.[0] ?? first;
        list.scrollTop += list.scrollHeight - height;
      } else if (!before && !following && last < newest) {
        const { lines } = await get({ after: last, count: WINDOW });
        if (lines.length) append(lines);
      }
      show();
    } finally {
      busy = false;
    }
  };

  list.addEventListener("scroll", () => {
    const fromEnd = list.scrollHeight - list.scrollTop - list.clientHeight;
    if (following && fromEnd > 60) setFollowing(false);
    else if (!following && fromEnd < 4 && last >= newest && !needle) setFollowing(true);
    if (list.scrollTop < 40) more(true);
    else if (fromEnd < 40) more(false);
  });
  follow.addEventListener("click", () => setFollowing(!following));
  find("start").addEventListener("click", async () => {
    search.value = needle = hits.textContent = "";
    following = false;
    await load({ after: 0, count: WINDOW });
    list.scrollTop = 0;
    list.focus();
  });
  earlier.addEventListener("click", () => more(true));

  const look = async () => {
    needle = search.value.trim();
    if (!needle) {
      hits.textContent = "";
      following = false;
      return setFollowing(true);
    }
    const wanted = needle;
    const { lines, total } = await get({ q: needle });
    if (wanted !== needle) return undefined;
    clear();
    first = last = 0;
    if (lines.length) append(lines);
    hits.textContent = total > lines.length ? `last ${count(lines.length)} of ${count(total)} lines` : `${count(total)} lines`;
    show();
    return toEnd();
  };
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 250);
  });
  // A found line leads to its place.
  list.addEventListener("click", async (event) => {
    const item = event.target.closest("[data-n]");
    if (!item || !needle) return;
    const number = Number(item.dataset.n);
    search.value = needle = hits.textContent = "";
    following = false;
    await load({ after: Math.max(0, number - 100), count: WINDOW });
    const found = list.querySelector(`[data-n="${number}"]`);
    found?.classList.add("is-found");
    found?.scrollIntoView({ block: "center" });
  });

  onStream("log", { after: null, take });
};
