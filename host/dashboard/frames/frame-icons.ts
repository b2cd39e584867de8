import { icons } from "../icons/icons.ts";

/** Maximum number of icons that frames can load. No dashboard needs so many, and further ones get the help icon. */
const MAX_ICONS = 300;

/** The icons requested by frames. A frame's code cannot displace all icons that the page knows. */
export class FrameIcons {
  readonly #load: (name: string) => Promise<string>;
  readonly #requested = new Set<string>();
  readonly #loaded = new Map<string, string>();

  constructor(load: (name: string) => Promise<string>) {
    this.#load = load;
  }

  /** The SVG paths by name, so that the next frame has them immediately. */
  get loaded(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#loaded);
  }

  /** The SVG path of an icon, for a frame that cannot load it. */
  async pathOf(requested: string): Promise<string> {
    const isKnown = this.#requested.has(requested) || this.#requested.size < MAX_ICONS;
    if (!isKnown) return this.#load("help");
    this.#requested.add(requested);
    const path = await this.#load(requested);
    this.#loaded.set(requested, path);
    return path;
  }
}

/** The icons that the frames of this page have requested. */
export const frameIcons = new FrameIcons((name) => icons().load(name));
