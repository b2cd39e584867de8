import type { Device } from "@mantel/plugin-sdk/device";

/** The level of a lamp, 0 to 100; 0 while it is off, and 100 for a lamp that is on and has no level. */
export function levelOf({ state, pending }: Pick<Device, "state" | "pending">): number {
  const { on, brightness } = { ...state, ...pending };
  if (on === false) return 0;
  if (typeof brightness === "number") return brightness;
  return on === true ? 100 : 0;
}

/** The mean level of the lamps that are on; 0 if none is. */
export function roomLevel(lights: readonly Pick<Device, "state" | "pending">[]): number {
  const lit = lights.map(levelOf).filter((level) => level > 0);
  return lit.length === 0 ? 0 : lit.reduce((sum, level) => sum + level, 0) / lit.length;
}

/**
 * The levels of lamps after their mean changed to `to`. They keep their proportions, and no lit lamp goes out before
 * all do. If all were off, all get `to`.
 */
export function scaledLevels(levels: readonly number[], to: number): readonly number[] {
  const lit = levels.filter((level) => level > 0);
  if (to <= 0) return levels.map(() => 0);
  if (lit.length === 0) return levels.map(() => Math.round(to));
  const mean = lit.reduce((sum, level) => sum + level, 0) / lit.length;
  return levels.map((level) =>
    level === 0 ? 0 : Math.max(1, Math.min(100, Math.round((level * to) / mean))),
  );
}
