import { clear, draw, plainName } from "../icons/draw-icon.ts";

const shown = new Map<string, Set<HTMLElement>>();
const paths = new Map<string, string>();
let ask = (_name: string): void => undefined;

/**
 * `<mantel-icon name="mdi:sofa">` in a frame. The frame has no network, so the dashboard sends its
 * path.
 */
class FrameIcon extends HTMLElement {
  static readonly observedAttributes = ["name"];

  attributeChangedCallback(_attribute: string, before: string | null, now: string | null): void {
    if (before !== null) shown.get(plainName(before))?.delete(this);
    const name = plainName(now);
    const path = paths.get(name);
    if (path !== undefined) return draw(this, path);
    clear(this);
    const waiting = shown.get(name) ?? new Set();
    if (waiting.size === 0) ask(name);
    shown.set(name, waiting.add(this));
  }
}

/** The paths of icons received from the dashboard. */
export class Icons {
  constructor(asking: (name: string) => void) {
    ask = asking;
    for (const name of shown.keys()) ask(name);
  }

  put(name: string, path: string): void {
    paths.set(name, path);
    for (const icon of shown.get(name) ?? []) draw(icon, path);
    shown.delete(name);
  }
}

customElements.define("mantel-icon", FrameIcon);
