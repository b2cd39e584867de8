import { draw, drawNothing, plainName } from "../icons/icon-mask.ts";

const shown = new Map<string, Set<HTMLElement>>();
const texts = new Map<string, string>();
let ask = (_name: string): void => undefined;

/**
 * `<mantel-icon name="mdi:sofa">` in a frame. The frame has no network, so the dashboard sends the
 * drawing.
 */
class FrameIcon extends HTMLElement {
  static readonly observedAttributes = ["name"];

  attributeChangedCallback(_attribute: string, before: string | null, now: string | null): void {
    if (before !== null) shown.get(plainName(before))?.delete(this);
    const name = plainName(now);
    const text = texts.get(name);
    if (text !== undefined) return draw(this, text);
    drawNothing(this);
    const waiting = shown.get(name) ?? new Set();
    if (waiting.size === 0) ask(name);
    shown.set(name, waiting.add(this));
  }
}

/** The drawings of icons received from the dashboard. */
export class Icons {
  constructor(asking: (name: string) => void) {
    ask = asking;
    for (const name of shown.keys()) ask(name);
  }

  put(name: string, svg: string): void {
    texts.set(name, svg);
    for (const icon of shown.get(name) ?? []) draw(icon, svg);
    shown.delete(name);
  }
}

customElements.define("mantel-icon", FrameIcon);
