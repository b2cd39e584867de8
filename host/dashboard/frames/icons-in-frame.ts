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
    if (before !== null) shown.get(plain(before))?.delete(this);
    const name = plain(now ?? "");
    const text = texts.get(name);
    if (text !== undefined) return draw(this, text);
    this.style.maskImage = "linear-gradient(transparent)";
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

function draw(icon: HTMLElement, svg: string): void {
  icon.style.maskImage = `url("data:image/svg+xml,${encodeURIComponent(svg)}")`;
}

function plain(name: string): string {
  return /^mdi:([a-z0-9-]{1,60})$/.exec(name)?.[1] ?? "help";
}

customElements.define("mantel-icon", FrameIcon);
