/** Where the host serves icons; put in when the dashboard is built. */
declare const ICONS_URL: string;

/**
 * `<mantel-icon name="mdi:sofa">`: one of the Material Design icons, as large as the text and in its
 * colour, in the page and in every widget. It says nothing to screen readers: name the control.
 */
class MantelIcon extends HTMLElement {
  static readonly observedAttributes = ["name"];

  attributeChangedCallback(): void {
    this.style.maskImage = `url("${addressOf(this.getAttribute("name") ?? "")}")`;
  }
}

/** Fetches an icon that will be shown when there is no host to ask. */
export function keepIcon(name: string): void {
  new Image().src = addressOf(name);
}

function addressOf(name: string): string {
  return `${ICONS_URL}${/^mdi:([a-z0-9-]+)$/.exec(name)?.[1] ?? "help"}.svg`;
}

customElements.define("mantel-icon", MantelIcon);
