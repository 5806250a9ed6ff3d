// Every page's script: what is on the page starts by itself.
import { startDialogs } from "./dialogs.js";
import { startKeys } from "./keys.js";
import { start } from "./live.js";
import { startLog } from "./log.js";
import { startPoints } from "./points.js";

startDialogs();
startKeys();
const log = document.getElementById("log");
if (log) startLog(log);
const points = document.querySelector(".chart[data-after]");
if (points) startPoints(points);
start();
