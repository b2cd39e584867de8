import { rounded } from "./figures.ts";

/** Values that grow along one axis, such as the start time by the number of plugins. */
export interface Growth {
  readonly title: string;
  readonly unit: string;
  /** Pairs of size and value. */
  readonly points: readonly (readonly [size: number, value: number])[];
}

const PANEL = { width: 300, height: 210, columns: 3 };
const INSET = { left: 52, right: 16, top: 44, bottom: 30 };
const PLOT_WIDTH = PANEL.width - INSET.left - INSET.right;
const PLOT_HEIGHT = PANEL.height - INSET.top - INSET.bottom;
const STYLE = `
text { font: 11px system-ui, sans-serif; fill: #444 }
.title { font-weight: 600; font-size: 13px; fill: #111 }
.grid { stroke: #ddd }
.line { stroke: #0b6bcb; stroke-width: 2; fill: none }
.fit { stroke: #c2410c; stroke-dasharray: 4 4; fill: none }
circle { fill: #0b6bcb }`;

/** The exponent b of the power law a·n^b that fits best, by least squares of the logarithms. 0 is flat, 1 linear. */
export function slopeOf(points: Growth["points"]): number {
  return Math.round(fit(points).slope * 100) / 100;
}

/** An SVG image with one panel for each, both axes logarithmic, with the fitted power law and its exponent. */
export function growthPlot(growths: readonly Growth[], axis: string): string {
  const rows = Math.ceil(growths.length / PANEL.columns);
  const width = PANEL.width * Math.min(PANEL.columns, growths.length);
  const height = PANEL.height * rows;
  const panels = growths.map((growth, at) => {
    const x = (at % PANEL.columns) * PANEL.width;
    const y = Math.floor(at / PANEL.columns) * PANEL.height;
    return `<g transform="translate(${x} ${y})">${panel(growth, axis)}</g>`;
  });
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>
<style>${STYLE}</style>
<rect width="100%" height="100%" fill="#fff"/>
${panels.join("\n")}
</svg>
`;
}

function panel({ title, unit, points }: Growth, axis: string): string {
  const sizes = points.map(([size]) => size);
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  const values = points.map(([, value]) => Math.max(value, 0.01));
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values) * 1.01));
  const x = (size: number): number =>
    rounded(INSET.left + (Math.log(size / smallest) / Math.log(largest / smallest)) * PLOT_WIDTH);
  const y = (value: number): number =>
    rounded(INSET.top + PLOT_HEIGHT * (1 - Math.log(value / low) / Math.log(high / low)));
  const { slope, at } = fit(points);
  const tens = Array.from(
    { length: Math.round(Math.log10(high / low)) + 1 },
    (_, e) => low * 10 ** e,
  );
  const right = PANEL.width - INSET.right;
  const line = points.map(([size, value]) => `${x(size)},${y(Math.max(value, 0.01))}`).join(" ");
  return [
    `<text class="title" x="12" y="18">${title} (${unit})</text>`,
    `<text x="12" y="34">grows with n^${slope.toFixed(2)}</text>`,
    ...tens.map(
      (ten) =>
        `<path class="grid" d="M${INSET.left} ${y(ten)}H${right}"/>` +
        `<text x="${INSET.left - 6}" y="${y(ten) + 4}" text-anchor="end">${short(ten)}</text>`,
    ),
    ...sizes.map(
      (size) =>
        `<text x="${x(size)}" y="${PANEL.height - 14}" text-anchor="middle">${short(size)}</text>`,
    ),
    `<text x="${right}" y="${PANEL.height - 2}" text-anchor="end">${axis}</text>`,
    `<path class="fit" d="M${x(smallest)} ${y(at(smallest))}L${x(largest)} ${y(at(largest))}"/>`,
    `<polyline class="line" points="${line}"/>`,
    ...points.map(
      ([size, value]) =>
        `<circle cx="${x(size)}" cy="${y(Math.max(value, 0.01))}" r="3"/>` +
        `<text x="${x(size)}" y="${y(Math.max(value, 0.01)) - 7}" text-anchor="middle">${short(value)}</text>`,
    ),
  ].join("\n");
}

function fit(points: Growth["points"]): { slope: number; at: (size: number) => number } {
  const logs = points.map(
    ([size, value]) => [Math.log(size), Math.log(Math.max(value, 0.01))] as const,
  );
  const mean = (part: 0 | 1): number => logs.reduce((sum, log) => sum + log[part], 0) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / (spread || 1);
  return { slope, at: (size) => Math.exp(meanY + slope * (Math.log(size) - meanX)) };
}

function short(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-GB");
}
