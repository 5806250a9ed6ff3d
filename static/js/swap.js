// Puts the server's fragments into the page, by id, and leaves alone what the reader is doing: focus, scroll, open details.
import { refresh } from "./times.js";

const last = new Map(); // id → the HTML that the server sent

const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  return template.content.firstElementChild;
};

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";
// The same control in the new fragment: by id, by where it leads, else the same kind with the same name in the same order.
const nameOf = (el) => el.getAttribute("aria-label") ?? el.getAttribute("name") ?? el.textContent.trim();
const isLike = (one) => (other) => other.tagName === one.tagName && nameOf(other) === nameOf(one);
const twins = (root, el) => [...root.querySelectorAll(FOCUSABLE)].filter(isLike(el));
const findAgain = (fresh, { active, place }) => {
  const { id } = active;
  if (id) return document.getElementById(id);
  const href = active.getAttribute("href");
  return (href && fresh.querySelector(`a[href="${CSS.escape(href)}"]`)) || twins(fresh, active)[place];
};

const remember = (old) => {
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  return {
    focus: active && { active, place: twins(old, active).indexOf(active) },
    scrolls: [...old.querySelectorAll("[data-keep-scroll]")].map((el) => [el.scrollLeft, el.scrollTop]),
    open: [...old.querySelectorAll("details[id][open]")].map((el) => el.id),
  };
};

const restore = (fresh, kept) => {
  fresh.querySelectorAll("[data-keep-scroll]").forEach((el, i) => {
    if (kept.scrolls[i]) [el.scrollLeft, el.scrollTop] = kept.scrolls[i];
  });
  for (const id of kept.open) fresh.querySelector(`details#${CSS.escape(id)}`)?.setAttribute("open", "");
  if (kept.focus) findAgain(fresh, kept.focus)?.focus({ preventScroll: true });
};

// What is the reader's own (a ticked box, a star, an open editor) stays as it is in her page; the server's copy knows nothing of it.
const keepOwn = (old, fresh) => {
  for (const own of old.querySelectorAll("[data-keep]")) fresh.querySelector(`#${CSS.escape(own.id)}`)?.replaceWith(own);
};

// A list item that is new finds its place by data-order, the largest first.
const insert = (fresh) => {
  const list = document.getElementById(fresh.dataset.list);
  if (!list) return;
  const oldest = list.lastElementChild?.dataset.order ?? "";
  if (list.hasAttribute("data-newer-only") && fresh.dataset.order < oldest) return;
  const before = [...list.children].find((el) => (el.dataset.order ?? "") < fresh.dataset.order);
  list.insertBefore(fresh, before ?? null);
  list.querySelector("[data-when-empty]")?.remove();
};

// More than this part of the page is about something else now: another revision, or a newer attempt of a run whose page follows it.
const isAnotherPage = (old, fresh) =>
  old.dataset.page !== fresh.dataset.page || ("follows" in document.body.dataset && old.dataset.newest !== fresh.dataset.newest);

const swapOne = (id, html) => {
  if (last.get(id) === html) return;
  last.set(id, html);
  const fresh = parse(html);
  const old = document.getElementById(id);
  if (old && fresh && isAnotherPage(old, fresh)) location.reload();
  if (!fresh || (!old && !fresh.dataset.list)) return;
  refresh(fresh);
  if (!old) insert(fresh);
  else if (fresh.classList.contains("chart")) {
    old.querySelector("script").textContent = fresh.querySelector("script").textContent;
    window.charts?.draw(old);
  } else {
    const kept = remember(old);
    keepOwn(old, fresh);
    old.replaceWith(fresh);
    restore(fresh, kept);
    window.htmx?.process(fresh);
  }
  if (fresh.dataset.goto) location.replace(fresh.dataset.goto);
};

export const swap = (fragments) => {
  for (const [id, html] of Object.entries(fragments)) swapOne(id, html);
};
