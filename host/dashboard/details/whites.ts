import type { Device } from "@mantel/plugin-sdk/device";
import { canSet } from "@mantel/plugin-sdk/ui/appearance";

/** A white to choose. */
export interface WhitePreset {
  readonly name: "candle" | "warm" | "neutral" | "daylight";
  readonly kelvin: number;
  readonly css: string;
}

const PRESETS: readonly WhitePreset[] = [
  { name: "candle", kelvin: 2_000, css: "oklch(0.82 0.12 65)" },
  { name: "warm", kelvin: 2_700, css: "oklch(0.89 0.08 75)" },
  { name: "neutral", kelvin: 4_000, css: "oklch(0.96 0.03 90)" },
  { name: "daylight", kelvin: 6_500, css: "oklch(0.94 0.03 240)" },
];
/** A lamp that nearly reaches a white shows its own limit in its place. */
const NEARLY = 0.15;

/** The whites that a lamp can show, warm to cold. */
export function whitesOf(device: Pick<Device, "capabilities">): readonly WhitePreset[] {
  const { colorTemperature } = device.capabilities;
  if (colorTemperature?.type !== "number" || !canSet(device, "colorTemperature")) return [];
  const { min = 0, max = Infinity, step = 1 } = colorTemperature;
  return PRESETS.flatMap((preset) => {
    const clamped = Math.max(min, Math.min(max, preset.kelvin));
    if (Math.abs(clamped - preset.kelvin) > preset.kelvin * NEARLY) return [];
    const base = Number.isFinite(min) ? min : 0;
    return [{ ...preset, kelvin: base + Math.round((clamped - base) / step) * step }];
  });
}
