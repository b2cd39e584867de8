import assert from "node:assert/strict";
import { test } from "node:test";
import { growthPlot, slopeOf } from "../../scripts/bench/shared/plot.ts";
import { reportPage } from "../../scripts/bench/shared/report.ts";

const sizes = [10, 100, 1_000, 10_000] as const;

test("the exponent of a growth is 0 for a flat, 1 for a linear and 2 for a square one", () => {
  const slopes = [0, 1, 2].map((power) => slopeOf(sizes.map((size) => [size, 3 * size ** power])));

  assert.deepEqual(slopes, [0, 1, 2]);
});

test("a growth plot has a panel for each figure, with its exponent", () => {
  const points = sizes.map((size) => [size, size / 5] as const);
  const flat = sizes.map((size) => [size, 7] as const);
  const svg = growthPlot(
    [
      { title: "Memory", unit: "MiB", points },
      { title: "Command", unit: "ms", points: flat },
    ],
    "devices",
  );

  assert.match(svg, /Memory \(MiB\)[^]*n\^1\.00[^]*Command \(ms\)[^]*n\^0\.00/);
  assert.equal(svg.match(/<circle/g)?.length, 8);
  assert.doesNotMatch(svg, /NaN|Infinity/);
});

test("the page of all benches has their figures, plots and faults, and loads nothing", () => {
  const waits = { p50: 4, p95: 8, p99: 16, max: 20 };
  const ran = { command: "npm run bench x", seconds: 3, images: ["<svg></svg>"] };
  const page = reportPage(
    [
      { ...ran, name: "reload", results: [{ mantel: waits, koa: { ...waits, p50: 5 } }] },
      { ...ran, name: "broken", results: [], fault: "no <answer>" },
    ],
    { cores: 2 },
  );

  assert.match(page, /<th>mantel<td class="number">4<td class="number">8/);
  assert.equal(page.match(/<figure>/g)?.length, 1);
  assert.match(page, /no &lt;answer&gt;/);
  assert.doesNotMatch(page, /\b(src|href)="(?!#)|@import|NaN/);
});
