import type { Color } from "@mantel/plugin-sdk/device";
import { type ReadonlySignal, signal } from "@preact/signals-core";
import { lasting } from "../page-storage.ts";

const KEY = "mantel.colours";
const MOST = 7;
/** Colours closer than this are the same to the eye. */
const NEAR = { hue: 8, saturation: 10 };
/** A colour counts as chosen if it stays for this long. */
const SETTLED_MS = 1_500;

const colours = signal<readonly Color[]>(read());
let settling: ReturnType<typeof setTimeout> | undefined;

/** The last chosen colours on this screen, the newest first. */
export const recentColours: ReadonlySignal<readonly Color[]> = colours;

/** Remembers a colour that was set, unless another one follows soon. */
export function rememberColour(color: Color): void {
  clearTimeout(settling);
  settling = setTimeout(() => {
    colours.value = withColour(colours.peek(), color);
    write(colours.peek());
  }, SETTLED_MS);
}

/** The colours with one more in front. A similar one leaves. */
export function withColour(known: readonly Color[], color: Color): readonly Color[] {
  return [color, ...known.filter((each) => !isNear(each, color))].slice(0, MOST);
}

/** True if two colours look the same. */
export function isNear(one: Color, other: Color): boolean {
  const turn = Math.abs(one.hue - other.hue) % 360;
  return (
    Math.min(turn, 360 - turn) <= NEAR.hue &&
    Math.abs(one.saturation - other.saturation) <= NEAR.saturation
  );
}

/** Storage may hold what another version has written. */
function read(): readonly Color[] {
  try {
    const stored: unknown = JSON.parse(lasting.get(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isColor).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function isColor(value: unknown): value is Color {
  if (typeof value !== "object" || value === null) return false;
  const { hue, saturation } = value as Partial<Color>;
  return Number.isFinite(hue) && Number.isFinite(saturation);
}

function write(known: readonly Color[]): void {
  lasting.set(KEY, JSON.stringify(known));
}
