import type { I18n } from "@mantel/plugin-sdk/i18n";
import { readingText } from "@mantel/plugin-sdk/ui/reading";
import type uPlot from "uplot";

const KEY = Symbol.for("mantel/uplot@1.6.32");
type PageGlobals = typeof globalThis & { [KEY]?: Promise<typeof uPlot> };

export interface Line {
  /** The id of the device. */
  readonly device: string;
  readonly name: string;
  /** A hue of the theme. */
  readonly hue: string;
  readonly capability: { readonly unit?: string; readonly step?: number };
  /** A value or null at each moment. */
  readonly values: readonly (number | null)[];
}

/** The input of a chart. Any change other than of values creates a new chart. */
export interface Drawing {
  /** Epoch milliseconds. */
  readonly moments: readonly number[];
  readonly lines: readonly Line[];
  readonly theme: string;
  readonly size: string;
  readonly ctx: I18n;
}

/** Lines over time, drawn by uPlot onto a canvas that fills `frame`. */
export class Chart {
  readonly #frame: HTMLElement;
  readonly #onCursor: (index: number | undefined) => void;
  #plot: uPlot | undefined;
  #drawn = "";
  #nextDrawing: Drawing | undefined;
  #closed = false;

  constructor(frame: HTMLElement, { onCursor }: { onCursor: (index: number | undefined) => void }) {
    this.#frame = frame;
    this.#onCursor = onCursor;
  }

  show(drawing: Drawing): void {
    this.#nextDrawing = drawing;
    void this.#draw();
  }

  close(): void {
    this.#closed = true;
    this.#plot?.destroy();
  }

  async #draw(): Promise<void> {
    const Plot = await loadUplot();
    const drawing = this.#nextDrawing;
    if (this.#closed || !drawing) return;
    const { clientWidth: width, clientHeight: height } = this.#frame;
    if (width === 0 || height === 0) return;
    const data: uPlot.AlignedData = [
      drawing.moments.map((at) => at / 1000),
      ...drawing.lines.map(({ values }) => [...values]),
    ];
    const { theme, lines } = drawing;
    const key = JSON.stringify([theme, width, height, lines.map(({ name, hue }) => [name, hue])]);
    if (this.#plot && key === this.#drawn) return this.#plot.setData(data);
    this.#plot?.destroy();
    this.#drawn = key;
    this.#plot = new Plot(this.#options(drawing, { width, height }), data, this.#frame);
  }

  #options({ lines, ctx }: Drawing, size: { width: number; height: number }): uPlot.Options {
    const style = getComputedStyle(this.#frame);
    const text = Number.parseFloat(style.fontSize);
    const token = (name: string): string => style.getPropertyValue(`--mantel-${name}`).trim();
    return {
      ...size,
      padding: [8, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 8 }, drag: { x: false, y: false } },
      axes: axesOf(ctx, lines[0]?.capability ?? {}, { token, text }),
      series: [
        {},
        ...lines.map(({ name, hue }) => ({
          label: name,
          stroke: `oklch(${token("mark")} ${token(`hue-${hue}`)})`,
          width: 2,
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => this.#onCursor(cursor.idx ?? undefined)] },
    };
  }
}

/** Axes with times and values in the formats of the home; uPlot only places the ticks. */
function axesOf(
  ctx: I18n,
  capability: Line["capability"],
  { token, text }: { token: (name: string) => string; text: number },
): uPlot.Axis[] {
  const axis = {
    stroke: token("text-3"),
    font: `550 ${text}px ${token("font")}`,
    ticks: { show: false },
  };
  return [
    {
      ...axis,
      grid: { show: false },
      space: text * 5.4,
      size: text * 2.2,
      values: (_, splits) => splits.map((seconds) => ctx.fmt.time(seconds * 1000)),
    },
    {
      ...axis,
      size: text * 4.5,
      grid: { stroke: token("surface-3"), width: 1 },
      values: (_, splits) =>
        splits.map((value) => readingText(value, { ...capability, step: 0.1 }, ctx)),
    },
  ];
}

/**
 * Loads uPlot once per page. Its code adds listeners to the window when it runs and never removes
 * them, and the code of a widget runs at each mount and swap: each run would add four listeners.
 */
function loadUplot(): Promise<typeof uPlot> {
  const page: PageGlobals = globalThis;
  page[KEY] ??= import("uplot").then((library) => library.default);
  return page[KEY];
}
