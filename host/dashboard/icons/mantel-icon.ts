import { clear, draw, plainName } from "./draw-icon.ts";
import { icons } from "./icons.ts";

/**
 * `<mantel-icon name="mdi:sofa">`: a Material Design icon with the size and colour of the text,
 * available in the page and in all widgets. Hidden from screen readers: give the control a name.
 */
export class MantelIcon extends HTMLElement {
  static readonly observedAttributes = ["name"];

  attributeChangedCallback(_attribute: string, _before: string | null, now: string | null): void {
    const name = plainName(now);
    const path = icons().find(name);
    if (path !== undefined) return draw(this, path);
    clear(this);
    void icons()
      .load(name)
      .then((loaded) => {
        if (plainName(this.getAttribute("name")) === name) draw(this, loaded);
      });
  }
}
