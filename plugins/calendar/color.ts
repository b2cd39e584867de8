import { createHash } from "node:crypto";
import colorNames from "color-name";

const DEFAULT = "#2f6fde";
const PALETTE = [
  DEFAULT,
  "#1f9d72",
  "#d9822b",
  "#c44569",
  "#7a5af5",
  "#0e9aa7",
  "#b8860b",
  "#6b7f3f",
];

/** `#rrggbb` of a CSS colour name (RFC 7986, 5.9) or a hex colour; an alpha channel is dropped. */
export function parseColor(text: string | undefined): string | null {
  if (text === undefined) return null;
  const name = text.trim().toLowerCase();
  if (/^#[0-9a-f]{6}([0-9a-f]{2})?$/.test(name)) return name.slice(0, 7);
  const rgb = Object.hasOwn(colorNames, name)
    ? colorNames[name as keyof typeof colorNames]
    : undefined;
  return rgb ? `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}` : null;
}

/** A colour for a calendar without one; always the same for the same id. */
export function paletteColor(id: string): string {
  const [byte = 0] = createHash("sha256").update(id).digest();
  return PALETTE[byte % PALETTE.length] ?? DEFAULT;
}
