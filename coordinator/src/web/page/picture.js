// Where a job's units are: one cell for each stretch of them, line by line.

import { $, make, put, reconcile } from "./dom.js";
import { count, grouped, plural } from "./words.js";

const PLACES = {
  done: "done",
  running: "running",
  unconfirmed: "not confirmed yet",
  failed_once: "failed once",
  given_up: "given up",
  waiting: "waiting",
};
/// What has gone wrong is seen however little it is.
const WRONG = ["failed_once", "given_up"];
const CELL = 13;
const LARGEST_CELL = 34;
const GAP = 2;
const CORNER = 2.5;

/// What is shown, and how its cells lie.
let shown = null;
let cells = { columns: 1, side: CELL };

/// Shows the picture of a job; none where that is not known yet.
export function drawPicture(job, picture) {
  shown = picture;
  $("picture").hidden = !picture;
  if (!picture) return;
  drawLegend(job, picture);
  $("canvas").hidden = !picture.known;
  draw();
}

function draw() {
  const canvas = $("canvas");
  const width = canvas.clientWidth;
  if (!shown || !shown.known || !width) return;
  const { stretches, places } = shown;
  cells = layOut(stretches.length, width);
  const { columns, side } = cells;
  const height = Math.ceil(stretches.length / columns) * (side + GAP) - GAP;
  const scale = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const style = getComputedStyle(document.documentElement);
  const colours = places.map((place) => style.getPropertyValue(`--${place}`).trim());
  const brush = canvas.getContext("2d");
  brush.scale(scale, scale);
  stretches.forEach((shares, i) => {
    const left = (i % columns) * (side + GAP);
    const top = Math.floor(i / columns) * (side + GAP);
    fill(brush, { left, top, side }, shares, places, colours);
  });
}

/// Few cells are large and stand in one line.
function layOut(len, width) {
  const most = Math.max(1, Math.floor((width + GAP) / (CELL + GAP)));
  const columns = Math.max(1, Math.min(most, len));
  const side = (width + GAP) / columns - GAP;
  return { columns, side: len <= most ? Math.min(LARGEST_CELL, side) : side };
}

/// How tall each share of a cell is. The largest makes room for what is seen however little it is.
function heights(shares, places, side) {
  const tall = shares.map((share, i) => {
    if (share === 0 || places[i] === "waiting") return 0;
    return Math.max((share * side) / 1000, WRONG.includes(places[i]) ? 3 : 1);
  });
  const over = tall.reduce((sum, one) => sum + one, 0) - side;
  if (over > 0) tall[tall.indexOf(Math.max(...tall))] -= over;
  return tall;
}

/// A cell is filled by shares, from below.
function fill(brush, { left, top, side }, shares, places, colours) {
  brush.save();
  brush.beginPath();
  brush.roundRect(left, top, side, side, CORNER);
  brush.clip();
  brush.fillStyle = colours[places.indexOf("waiting")];
  brush.fillRect(left, top, side, side);
  let bottom = top + side;
  heights(shares, places, side).forEach((tall, i) => {
    brush.fillStyle = colours[i];
    brush.fillRect(left, bottom - tall, side, tall);
    bottom -= tall;
  });
  brush.restore();
}

function drawLegend(job, picture) {
  const counts = {
    done: BigInt(job.done),
    running: BigInt(job.leased),
    unconfirmed: BigInt(job.unconfirmed),
    failed_once: BigInt(job.failed_once),
    given_up: BigInt(job.given_up),
  };
  const rest = BigInt(job.units) - Object.values(counts).reduce((sum, some) => sum + some, 0n);
  counts.waiting = rest > 0n ? rest : 0n;
  const told = Object.entries(counts).filter(([place, some]) => some > 0n || place === "done" || place === "running");
  const build = ([place]) => {
    const item = make("li");
    item.dataset.is = place;
    return item;
  };
  reconcile($("legend"), told, ([place]) => place, build, (item, [place, some]) => {
    put(item, `${PLACES[place]} ${grouped.format(some)}`);
  });
  const words = told.map(([place, some]) => `${grouped.format(some)} ${PLACES[place]}`).join(", ");
  $("canvas").setAttribute("aria-label", `Where the ${count(job.units)} units are: ${words}`);
  put($("picture-note"), note(job, picture));
}

function note(job, picture) {
  if (!picture.known) return "Which ranges are done is not known: this program cannot open the job.";
  const each = Math.round(Number(job.units) / Math.max(1, picture.stretches.length));
  return `From unit 0 on, line by line; a square is ${each > 1 ? "about " : ""}${plural(each, "unit")}.`;
}

$("canvas").addEventListener("pointermove", (event) => {
  if (!shown || !shown.known) return;
  const column = Math.floor(event.offsetX / (cells.side + GAP));
  const at = Math.floor(event.offsetY / (cells.side + GAP)) * cells.columns + column;
  const shares = column < cells.columns && shown.stretches[at];
  $("canvas").title = shares ? describe(at, shares) : "";
});

function describe(at, shares) {
  const [units, len] = [BigInt(shown.units), BigInt(shown.stretches.length)];
  const [first, last] = [(units * BigInt(at)) / len, (units * BigInt(at + 1)) / len - 1n];
  const words = shares.map((share, i) => share > 0 && `${PLACES[shown.places[i]]} ${share / 10} %`).filter(Boolean);
  return `units ${grouped.format(first)} to ${grouped.format(last)}: ${words.join(", ")}`;
}

new ResizeObserver(draw).observe($("picture"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
