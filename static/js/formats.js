// Numbers and times as eagle3web/formats.py writes them, for what moves between two messages of the server.
export const UNKNOWN = "–";

const NB = "\u00a0"; // numbers do not break before their units

export const count = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, NB);

export const tokens = (n) => {
  if (n >= 999_995) {
    const [size, unit] = n >= 1e9 ? [1e9, "G"] : [1e6, "M"];
    return `${(n / size).toFixed(2)}${NB}${unit}`;
  }
  return n >= 999.95 ? `${(n / 1e3).toFixed(1)}${NB}k` : count(n);
};

export const duration = (seconds) => {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}${NB}s`;
  if (whole < 600 && whole % 60) return `${Math.floor(whole / 60)}${NB}min${NB}${whole % 60}${NB}s`;
  if (whole < 3600) return `${Math.round(seconds / 60)}${NB}min`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}${NB}h${NB}${String(minutes % 60).padStart(2, "0")}${NB}min`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)}${NB}d${NB}${hours % 24}${NB}h`;
};

const isZone = (name) => {
  try {
    return Boolean(new Intl.DateTimeFormat("en-GB", { timeZone: name }));
  } catch {
    return false; // a zone that this browser does not know; the reader's own is better than no time
  }
};
const chosen = document.documentElement.dataset.zone;
const zone = chosen && isZone(chosen) ? chosen : undefined;
const format = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...options });
const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const clockTime = format(time);
const clockZone = format({ ...time, timeZoneName: "short" });
const weekday = format({ weekday: "short", hour: "2-digit", minute: "2-digit" });
const date = format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const dayOnly = format({ year: "numeric", month: "2-digit", day: "2-digit" });
const full = format({ dateStyle: "long", timeStyle: "long" });

export const clock = (at, named = true) => (named ? clockZone : clockTime).format(at);
export const exact = (at) => full.format(at);
export const day = (at, now) => {
  if (dayOnly.format(at) === dayOnly.format(now)) return clockTime.format(at).slice(0, 5);
  return (Math.abs(now - at) < 6 * 86_400_000 ? weekday : date).format(at);
};

// What to add to a UTC instant so that a chart, which knows no zones, shows the reader's wall clock. The same within an hour.
const offsets = new Map();
export const zoneOffset = (ms) => {
  const hour = Math.floor(ms / 3_600_000);
  if (!offsets.has(hour)) {
    const parts = format({ dateStyle: "short", timeStyle: "medium" }).formatToParts(hour * 3_600_000);
    const get = (type) => Number(parts.find((part) => part.type === type).value);
    const wall = Date.UTC(get("year"), get("month") - 1, get("day"), get("hour"), get("minute"), get("second"));
    offsets.set(hour, wall - hour * 3_600_000);
  }
  return offsets.get(hour);
};
