import type { History } from "./history.ts";

/** The factor of a step of zooming. */
export const ZOOM_STEP = 2;
/** The share of the shown time by which a step moves it. */
export const PAN_STEP = 0.5;
/** The share of the chart by which a key moves the point that is read. */
const KEY_STEP = 1 / 96;
/** The exponent of zooming for a pixel of the wheel; pinching a track pad turns it with Ctrl. */
const WHEEL_EXPONENT = 0.005;

/**
 * Pointers and keys on a chart. One finger, and the mouse while no button is down, read the value under them. The mouse
 * with a button down moves the chart; two fingers move and zoom it.
 */
export class ChartGestures {
  readonly #history: History;
  /** The instants of the pointers that are down, which stay under them. */
  readonly #held = new Map<number, { at: number; share: number }>();

  constructor(history: History) {
    this.#history = history;
  }

  readonly down = (event: PointerEvent): void => {
    const share = shareOf(event);
    if (event.pointerType === "mouse" && event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    for (const held of this.#held.values()) held.at = this.#instantAt(held.share);
    this.#held.set(event.pointerId, { share, at: this.#instantAt(share) });
    this.#history.at.value = this.#held.size === 1 ? share : undefined;
  };

  readonly move = (event: PointerEvent): void => {
    const share = shareOf(event);
    const held = this.#held.get(event.pointerId);
    if (held) held.share = share;
    const isReading = !held || (this.#held.size === 1 && event.pointerType !== "mouse");
    if (isReading) return void (this.#history.at.value = Math.max(0, Math.min(1, share)));
    this.#follow();
  };

  readonly up = ({ pointerId }: PointerEvent): void => {
    this.#held.delete(pointerId);
    for (const held of this.#held.values()) held.at = this.#instantAt(held.share);
  };

  readonly leave = (event: PointerEvent): void => {
    this.up(event);
    this.#history.at.value = undefined;
  };

  readonly wheel = (event: WheelEvent): void => {
    const { deltaX, deltaY, ctrlKey, shiftKey } = event;
    if (ctrlKey) this.#history.zoom(Math.exp(deltaY * WHEEL_EXPONENT), shareOf(event));
    else if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) {
      this.#history.pan((deltaX === 0 ? deltaY : deltaX) / widthOf(event));
    } else return; // scrolls the sheet
    event.preventDefault();
  };

  readonly key = (event: KeyboardEvent): void => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const { at } = this.#history;
    const read = (by: number) => () =>
      (at.value = Math.max(0, Math.min(1, (at.peek() ?? 1) + by * KEY_STEP)));
    const pan = (by: number) => () => this.#history.pan(by);
    const zoom = (factor: number) => () => this.#history.zoom(factor, at.peek() ?? 0.5);
    const acts: Readonly<Record<string, () => void>> = {
      ArrowLeft: shiftKey ? pan(-PAN_STEP) : read(-1),
      ArrowRight: shiftKey ? pan(PAN_STEP) : read(1),
      PageDown: read(-6),
      PageUp: read(6),
      "+": zoom(1 / ZOOM_STEP),
      "=": zoom(1 / ZOOM_STEP),
      "-": zoom(ZOOM_STEP),
    };
    const act = acts[key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  #instantAt(share: number): number {
    const { from, ms } = this.#history.range.peek();
    return from + share * ms;
  }

  /** Moves the chart so that the held instants are under their pointers. */
  #follow(): void {
    const [one, other] = this.#held.values();
    if (!one) return;
    this.#history.at.value = undefined;
    const { ms } = this.#history.range.peek();
    const apart = other ? (other.at - one.at) / (other.share - one.share) : ms;
    const length = apart > 0 && Number.isFinite(apart) ? apart : ms;
    this.#history.move({ from: one.at - one.share * length, ms: length });
  }
}

function shareOf({ currentTarget, clientX }: MouseEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect();
  return width === 0 ? 0 : (clientX - left) / width;
}

function widthOf({ currentTarget }: MouseEvent): number {
  return (currentTarget as Element).getBoundingClientRect().width || 1;
}
