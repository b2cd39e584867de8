import { rounded, type Summary } from "./figures.ts";

/** A bench that ran for the report. */
export interface Reported {
  readonly name: string;
  readonly command: string;
  readonly seconds: number;
  /** The lines of JSON that it printed, parsed. */
  readonly results: readonly object[];
  /** SVG images that it drew. */
  readonly images: readonly string[];
  /** The reason why it failed. */
  readonly fault?: string;
}

const STYLE = `
:root { color-scheme: light dark }
body { font: 14px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: .3rem 0 }
td, th { border: 1px solid #8886; padding: .15rem .5rem; text-align: left; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
nav a { margin-right: .8rem }
.fault { color: #c2410c }
svg { max-width: 100%; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: currentColor }
`;
const PLOT = { labels: 330, width: 900, row: 20, right: 60 };

/** One page without references to other files: a table of all figures of each bench, and a plot of its percentiles. */
export function reportPage(all: readonly Reported[], about: Record<string, unknown>): string {
  const links = all.map(({ name }) => `<a href="#${name}">${name}</a>`).join(" ");
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Mantel: benchmarks</title><style>${STYLE}</style>
<h1>Benchmarks</h1>
${table(about)}
<nav>${links}</nav>
${all.map(section).join("\n")}
</html>
`;
}

function section({ name, command, seconds, results, images, fault }: Reported): string {
  return `<section id="${name}"><h2>${name}</h2>
<p><code>${escaped(command)}</code>, ${seconds} s</p>
${fault === undefined ? "" : `<p class="fault">${escaped(fault)}</p>`}
${images.join("\n")}
${results.map((result) => percentilePlot(result) + table(result)).join("\n")}
</section>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** A row for each entry. Entries that are all objects share their columns. */
function table(value: object): string {
  const entries = Object.entries(value);
  const rows = entries.flatMap(([, each]) =>
    isObject(each) && !Array.isArray(each) ? [each] : [],
  );
  const isTable = rows.length === entries.length && rows.length > 1;
  const columns = isTable ? [...new Set(rows.flatMap(Object.keys))] : [];
  const isList = Array.isArray(value);
  const head = ["", ...columns].slice(isList ? 1 : 0).map((name) => `<th>${escaped(name)}`);
  const lines = entries.map(([key, each]) => {
    const cells = isTable
      ? columns.map((name) => cell((each as Record<string, unknown>)[name]))
      : [cell(each)];
    return `<tr>${isList ? "" : `<th>${escaped(key)}`}${cells.join("")}`;
  });
  return `<table>${isTable ? `<tr>${head.join("")}` : ""}${lines.join("\n")}</table>`;
}

function cell(value: unknown): string {
  if (typeof value === "number") return `<td class="number">${value.toLocaleString("en-GB")}`;
  if (Array.isArray(value) && !value.some(isObject)) return `<td>${escaped(value.join(", "))}`;
  if (isObject(value)) return `<td>${Object.keys(value).length === 0 ? "none" : table(value)}`;
  if (value === undefined) return "<td>";
  return `<td>${escaped(typeof value === "string" ? value : JSON.stringify(value))}`;
}

/** Median, 95th and 99th percentile of each summary in a result, on a logarithmic axis. */
function percentilePlot(result: object): string {
  const all = summariesIn(result, []);
  if (all.length === 0) return "";
  const positive = all.flatMap(([, { p50, p99 }]) => [p50, p99]).filter((value) => value > 0);
  if (positive.length === 0) return "";
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...positive) * 1.01));
  const width = PLOT.width - PLOT.labels - PLOT.right;
  const x = (value: number): number =>
    rounded(PLOT.labels + (width * Math.log(Math.max(value, low) / low)) / Math.log(high / low));
  const rows = all.map(([name, { p50, p95, p99 }], at) => {
    const y = (at + 1) * PLOT.row;
    const dots = [p50, p95, p99].map(
      (value, index) => `<circle cx="${x(value)}" cy="${y - 4}" r="${4 - index}" fill="#0b6bcb"/>`,
    );
    const line = `<path d="M${x(p50)} ${y - 4}H${x(p99)}" stroke="#0b6bcb"/>`;
    const label = `<text x="${PLOT.labels - 8}" y="${y}" text-anchor="end">${escaped(name)}</text>`;
    return `${label}${line}${dots.join("")}<text x="${x(p99) + 8}" y="${y}">${p50}</text>`;
  });
  const height = (all.length + 2) * PLOT.row;
  const bottom = height - 8;
  const ends = `<text x="${PLOT.labels}" y="${bottom}">${low}</text><text x="${PLOT.labels + width}" y="${bottom}" text-anchor="end">${high}</text>`;
  return `<figure><svg viewBox="0 0 ${PLOT.width} ${height}">${rows.join("\n")}${ends}</svg>
<figcaption>p50 (with its number), p95 and p99; the axis is logarithmic</figcaption></figure>`;
}

function summariesIn(value: unknown, path: readonly string[]): [string, Summary][] {
  if (!isObject(value)) return [];
  if ("p50" in value && "p99" in value) return [[path.join(", "), value as unknown as Summary]];
  return Object.entries(value).flatMap(([key, each]) => summariesIn(each, [...path, key]));
}
