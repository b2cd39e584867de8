/**
 * Converts the HSL hue of a fully saturated colour to its OKLCH hue; both in degrees. Lamps use HSL hues, the
 * theme's colours are in the perceptually uniform OKLCH (B. Ottosson, "A perceptual color space for image
 * processing").
 */
export function oklchHue(hue: number): number {
  const [red, green, blue] = [0, 8, 4].map((offset) => channel(hue, offset)) as [
    number,
    number,
    number,
  ];
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const b = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return Math.round((Math.atan2(b, a) * 180) / Math.PI + 360) % 360;
}

/** One linear-light channel of the fully saturated colour (CSS Color 4, HSL to RGB, sRGB transfer). */
function channel(hue: number, offset: number): number {
  const k = (offset + hue / 30) % 12;
  const encoded = 0.5 - 0.5 * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  return encoded <= 0.04045 ? encoded / 12.92 : ((encoded + 0.055) / 1.055) ** 2.4;
}
