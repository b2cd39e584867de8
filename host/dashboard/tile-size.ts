import type { TileSize } from "@mantel/plugin-sdk/widget";
import { signal, type ReadonlySignal } from "@preact/signals-core";
import type { Geometry } from "./layout.ts";

const TEXT_PX = 16;

/** Tracks the drawn size of an element, in cells and pixels, as a `TileSize`. */
export class SizeWatch {
  readonly #size = signal<TileSize>({ cols: 1, rows: 1, width: 0, height: 0, shape: "icon" });
  readonly #observer: ResizeObserver;

  constructor(element: Element) {
    this.#observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      // A hidden page has no size; its tiles keep the last one.
      if (width === 0) return;
      const scale = textScale();
      this.#set({ width: Math.round(width / scale), height: Math.round(height / scale) });
    });
    this.#observer.observe(element);
  }

  get size(): ReadonlySignal<TileSize> {
    return this.#size;
  }

  place({ w, h }: Geometry): void {
    this.#set({ cols: w, rows: h });
  }

  close(): void {
    this.#observer.disconnect();
  }

  #set(change: Partial<TileSize>): void {
    const before = this.#size.peek();
    const now = { ...before, ...change };
    const same = Object.keys(change).every(
      (key) => before[key as keyof TileSize] === now[key as keyof TileSize],
    );
    if (!same) this.#size.value = { ...now, shape: shapeOf(now) };
  }
}

function shapeOf({ width, height }: { width: number; height: number }): TileSize["shape"] {
  if (height < 100) return width < 140 ? "icon" : "row";
  return width < 420 && height < 260 ? "card" : "panel";
}

/** The text zoom that the user has set in the browser. */
function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / TEXT_PX;
}
