// Every page's script: what is on the page starts by itself, and what only the page of a run needs is loaded there.
import { startDialogs } from "./dialogs.js";
import { startKeys } from "./keys.js";
import { start } from "./live.js";

startDialogs();
startKeys();
const log = document.getElementById("log");
if (log) (await import("./log.js")).startLog(log);
const points = document.querySelectorAll(".chart[data-after]");
if (points.length) (await import("./points.js")).startPoints(points);
start();
