/** URL of the icons, set when the dashboard is built. */
declare const ICONS_URL: string;

/** Maximum number of icons. No dashboard needs so many, and further requests get the help icon. */
const MOST_ICONS = 500;

const known = new Map<string, Promise<string>>();
const loaded = new Map<string, string>();

/** The icons requested by frames, by name, so that the next frame has them immediately. */
export const loadedIcons = (): Readonly<Record<string, string>> => Object.fromEntries(loaded);

/** The SVG text of an icon, for a frame that cannot load it. Unknown icons get the help icon. */
export function iconText(name: string): Promise<string> {
  const text = known.get(name) ?? load(known.size < MOST_ICONS ? name : "help");
  if (known.size < MOST_ICONS) known.set(name, text);
  return text;
}

async function load(name: string): Promise<string> {
  const response = await fetch(`${ICONS_URL}${name}.svg`).catch(() => undefined);
  if (response?.ok) {
    const text = await response.text();
    loaded.set(name, text);
    return text;
  }
  if (name === "help") {
    known.delete(name);
    return "";
  }
  if (!response) known.delete(name); // it may work once the host answers
  return iconText("help");
}
