import type { Device } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { type Chip, openIcon } from "@mantel/plugin-sdk/ui/chip";

/** The enabled checks. */
export interface EnabledChecks {
  readonly openings: boolean;
  readonly locks: boolean;
  readonly unreachable: boolean;
  readonly batteries: boolean;
  /** Percent. */
  readonly batteryBelow: number;
  readonly speech: I18n;
}

/** Limits the names shown, so that an unreachable bridge does not fill the screen. */
const MOST_NAMES = 3;

/** The problems, most urgent first; a calm message if there are none. */
export function chipsOf(devices: readonly Device[], wanted: EnabledChecks): Chip[] {
  const { t } = wanted.speech;
  if (devices.length === 0) {
    return [{ text: t("No devices yet"), icon: "mdi:devices", hue: "info" }];
  }
  const urgent = [
    ...(wanted.openings ? openings(devices, wanted) : []),
    ...(wanted.locks ? unlocked(devices, wanted) : []),
    ...(wanted.unreachable ? unreachable(devices, wanted) : []),
    ...(wanted.batteries ? lowBatteries(devices, wanted) : []),
  ];
  const locks = devices.filter(({ kind, available }) => kind === "lock" && available);
  if (wanted.locks && locks.length > 0 && locks.every(({ state }) => state.locked === true)) {
    return [...urgent, { text: t("Locked"), icon: "mdi:lock-outline", hue: "ok" }];
  }
  return urgent.length > 0
    ? urgent
    : [{ text: t("All is well"), icon: "mdi:check-circle-outline", hue: "ok" }];
}

function openings(devices: readonly Device[], { speech: { t } }: EnabledChecks): Chip[] {
  return devices
    .filter(({ state, available }) => available && state.contact === false)
    .map(({ name }) => ({ text: t("{name} open"), name, icon: openIcon(name), hue: "warn" }));
}

function unlocked(devices: readonly Device[], { speech: { t } }: EnabledChecks): Chip[] {
  return devices
    .filter(({ kind, state }) => kind === "lock" && state.locked === false)
    .map(({ name }) => ({
      text: t("{name} unlocked"),
      name,
      icon: "mdi:lock-open-variant",
      hue: "warn",
    }));
}

function unreachable(devices: readonly Device[], { speech: { t, fmt } }: EnabledChecks): Chip[] {
  const away = devices.filter(({ available }) => !available);
  const icon = "mdi:lan-disconnect";
  if (away.length > MOST_NAMES) {
    const text = t("{count} devices do not answer", { count: fmt.number(away.length) });
    return [{ text, icon, hue: "warn" }];
  }
  return away.map(({ name }) => ({
    text: t("{name} does not answer"),
    name,
    icon,
    hue: "warn",
  }));
}

function lowBatteries(devices: readonly Device[], wanted: EnabledChecks): Chip[] {
  const { t, fmt } = wanted.speech;
  return devices.flatMap(({ name, state: { battery } }): Chip[] => {
    if (typeof battery !== "number" || battery >= wanted.batteryBelow) return [];
    const text = t("{name}: battery {percent}", { percent: fmt.unit(battery, "percent") });
    return [{ text, name, icon: "mdi:battery-alert-variant-outline", hue: "warn" }];
  });
}
