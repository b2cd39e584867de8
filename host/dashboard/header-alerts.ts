import type { Device } from "@mantel/plugin-sdk/device";
import { type Chip, openIcon } from "@mantel/plugin-sdk/ui/chip";
import { words } from "./i18n/later.ts";

const MOST_CHIPS = 4;

/**
 * Alerts for the header: open windows and doors, unlocked locks, or "Locked" if all locks are
 * locked.
 */
export function headerAlerts(devices: readonly Device[]): Chip[] {
  const texts = words.value;
  const open = devices
    .filter(({ kind, state }) => kind === "binary-sensor" && state.contact === false)
    .map(({ id, name }): Chip => ({
      text: texts.lockOpen,
      name,
      device: id,
      icon: openIcon(name),
      hue: "warn",
    }));
  const locks = devices.filter(({ kind, available }) => kind === "lock" && available);
  const unlocked = locks
    .filter(({ state }) => state.locked === false)
    .map(({ id, name }): Chip => ({
      text: texts.unlocked,
      name,
      device: id,
      icon: "mdi:lock-open-variant",
      hue: "warn",
    }));
  const allLocked = locks.length > 0 && locks.every(({ state }) => state.locked === true);
  const calm: Chip[] = allLocked
    ? [{ text: texts.locked, icon: "mdi:lock-outline", hue: "ok" }]
    : [];
  return [...open, ...unlocked, ...calm].slice(0, MOST_CHIPS);
}
