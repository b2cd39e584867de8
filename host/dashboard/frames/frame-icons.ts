import { icons } from "../icons/icons.ts";

/** Maximum number of icons that are kept for the next frame. */
const MAX_KEPT = 500;

const loaded = new Map<string, string>();

/** The icons requested by frames, by name, so that the next frame has them immediately. */
export const loadedIcons = (): Readonly<Record<string, string>> => Object.fromEntries(loaded);

/** The SVG path of an icon, for a frame that cannot load it. */
export async function iconPath(name: string): Promise<string> {
  const path = await icons().load(name);
  if (loaded.size < MAX_KEPT) loaded.set(name, path);
  return path;
}
