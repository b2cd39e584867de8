/** Where the host serves icons; put in when the dashboard is built. */
declare const ICONS_URL: string;

/**
 * `<mantel-icon name="mdi:sofa">`: one of the Material Design icons, as large as the text and in its
 * colour, in the page and in every widget. It says nothing to screen readers: name the control.
 */
class MantelIcon extends HTMLElement {
  static readonly observedAttributes = ["name"];

  attributeChangedCallback(): void {
    const name = /^mdi:([a-z0-9-]+)$/.exec(this.getAttribute("name") ?? "")?.[1];
    this.style.maskImage = `url("${ICONS_URL}${name ?? "help"}.svg")`;
  }
}

customElements.define("mantel-icon", MantelIcon);
