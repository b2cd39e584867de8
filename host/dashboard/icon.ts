/** URL of the icons, set when the dashboard is built. */
declare const ICONS_URL: string;

/**
 * `<mantel-icon name="mdi:sofa">`: a Material Design icon with the size and colour of the text,
 * available in the page and in all widgets. Hidden from screen readers: give the control a name.
 */
class MantelIcon extends HTMLElement {
  static readonly observedAttributes = ["name"];

  attributeChangedCallback(): void {
    this.style.maskImage = `url("${addressOf(this.getAttribute("name") ?? "")}")`;
  }
}

/** Fetches an icon in advance, for use while the host is unreachable. */
export function preloadIcon(name: string): void {
  new Image().src = addressOf(name);
}

function addressOf(name: string): string {
  return `${ICONS_URL}${/^mdi:([a-z0-9-]+)$/.exec(name)?.[1] ?? "help"}.svg`;
}

customElements.define("mantel-icon", MantelIcon);
