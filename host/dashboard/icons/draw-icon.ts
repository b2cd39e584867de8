const SVG = "http://www.w3.org/2000/svg";

/** The name of an icon without its set, such as `sofa` for `mdi:sofa`. What cannot be a name stands for a question mark. */
export function plainName(name: string | null): string {
  return /^mdi:([a-z0-9-]{1,60})$/.exec(name ?? "")?.[1] ?? "help";
}

/** Draws an SVG path into the element, in its colour. To paint a picture as a mask would take far longer. */
export function draw(icon: HTMLElement, path: string): void {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("fill", "currentColor");
  svg.setAttribute("aria-hidden", "true");
  svg.style.display = "block";
  svg.style.pointerEvents = "none"; // what is pressed is the icon
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  // lit counts the nodes of its templates, so the icon gets no child.
  const root = icon.shadowRoot ?? icon.attachShadow({ mode: "open" });
  root.replaceChildren(svg);
}

/** Leaves the element empty until its path is known. */
export function clear(icon: HTMLElement): void {
  icon.shadowRoot?.replaceChildren();
}
