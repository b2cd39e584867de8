/** The name of an icon without its set, such as `sofa` for `mdi:sofa`. What cannot be a name stands for a question mark. */
export function plainName(name: string | null): string {
  return /^mdi:([a-z0-9-]{1,60})$/.exec(name ?? "")?.[1] ?? "help";
}

/** Gives the element the shape of an SVG. */
export function draw(icon: HTMLElement, svg: string): void {
  icon.style.maskImage = `url("data:image/svg+xml,${encodeURIComponent(svg)}")`;
}

/** Hides the element's colour until its drawing is known. */
export function drawNothing(icon: HTMLElement): void {
  icon.style.maskImage = "linear-gradient(transparent)";
}
