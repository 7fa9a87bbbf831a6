// Numbers and times in words. Counts come as strings, since numbers end at 2^53 here.

export const grouped = new Intl.NumberFormat("en");
export const count = (text) => grouped.format(BigInt(text));
export const short = (name) => name.slice(0, 12);
export const capital = (word) => word[0].toUpperCase() + word.slice(1);
export const plural = (n, one, many = `${one}s`) => `${grouped.format(n)} ${Number(n) === 1 ? one : many}`;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/// A duration in its two largest units.
export function duration(ms) {
  const s = Math.max(0, Math.ceil(ms / 1000));
  if (s < MINUTE) return `${s} s`;
  if (s < HOUR) return `${Math.floor(s / MINUTE)} min ${s % MINUTE} s`;
  if (s < DAY) return `${Math.floor(s / HOUR)} h ${Math.floor((s % HOUR) / MINUTE)} min`;
  return `${grouped.format(Math.floor(s / DAY))} d ${Math.floor((s % DAY) / HOUR)} h`;
}

/// An age in its largest unit.
export function age(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < MINUTE) return `${s} s`;
  if (s < HOUR) return `${Math.floor(s / MINUTE)} min`;
  return s < DAY ? `${Math.floor(s / HOUR)} h` : `${grouped.format(Math.floor(s / DAY))} d`;
}

/// Units a second, as a number; empty where nothing is known.
export function speed(per1000s) {
  const n = Number(per1000s);
  if (n === 0) return "";
  return n < 10000 ? (n / 1000).toFixed(3) : grouped.format(Math.floor(n / 1000));
}

export function rate(per1000s) {
  const n = speed(per1000s);
  return n && `${n} units/s`;
}

export const percent = (job) => `${Math.floor(job.done_per_mille / 10)}.${job.done_per_mille % 10} %`;

/// The coordinator's clock: that of this machine may be wrong.
let ahead = 0;
export const now = () => Date.now() + ahead;
export function setClock(unixMs) {
  ahead = unixMs - Date.now();
}
