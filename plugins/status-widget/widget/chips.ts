import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { type Chip, openIcon } from "@mantel/plugin-sdk/ui/chip";

/** The enabled checks. */
export interface EnabledChecks {
  /** Alarms, smoke, gas and water. */
  readonly dangers: boolean;
  readonly openings: boolean;
  readonly locks: boolean;
  readonly unreachable: boolean;
  readonly batteries: boolean;
  /** Percent. */
  readonly batteryBelow: number;
  readonly i18n: I18n;
}

/** Limits the names shown, so that an unreachable bridge does not fill the screen. */
const MOST_NAMES = 3;

/** The dangers and their texts, most urgent first. */
const DANGERS: readonly (readonly [
  text: string,
  icon: Chip["icon"],
  isTrue: (state: DeviceState) => boolean,
])[] = [
  ["{name}: alarm", "mdi:shield-alert", ({ status }) => status === "triggered"],
  ["{name}: call for help", "mdi:alarm-light-outline", ({ sos }) => sos === true],
  ["{name}: smoke", "mdi:smoke-detector-variant-alert", ({ smoke }) => smoke === true],
  ["{name}: gas", "mdi:gas-cylinder", ({ gas }) => gas === true],
  ["{name}: carbon monoxide", "mdi:molecule-co", ({ carbonMonoxide }) => carbonMonoxide === true],
  ["{name}: water", "mdi:water-alert-outline", ({ waterLeak }) => waterLeak === true],
];

/** The problems, most urgent first; a calm message if there are none. */
export function chipsOf(devices: readonly Device[], wanted: EnabledChecks): Chip[] {
  const { t } = wanted.i18n;
  if (devices.length === 0) {
    return [{ text: t("No devices yet"), icon: "mdi:devices", hue: "info" }];
  }
  const urgent = [
    ...(wanted.dangers ? dangers(devices, wanted) : []),
    ...(wanted.locks ? jammed(devices, wanted) : []),
    ...(wanted.openings ? openings(devices, wanted) : []),
    ...(wanted.locks ? unlocked(devices, wanted) : []),
    ...(wanted.unreachable ? unreachable(devices, wanted) : []),
    ...(wanted.batteries ? lowBatteries(devices, wanted) : []),
  ];
  const locks = devices.filter(({ kind, available }) => kind === "lock" && available);
  if (wanted.locks && locks.length > 0 && locks.every(isLocked)) {
    return [...urgent, { text: t("Locked"), icon: "mdi:lock-outline", hue: "ok" }];
  }
  return urgent.length > 0
    ? urgent
    : [{ text: t("All is well"), icon: "mdi:check-circle-outline", hue: "ok" }];
}

const isLocked = ({ state }: Device): boolean => state.locked === true && state.jammed !== true;

/** The states of a device and of its parts. */
const statesOf = ({ state, parts = [] }: Device): readonly DeviceState[] => [
  state,
  ...parts.map((part) => part.state),
];

/** Includes devices that no longer answer: fire and water can be the reason. */
function dangers(devices: readonly Device[], { i18n: { t } }: EnabledChecks): Chip[] {
  return DANGERS.flatMap(([text, icon, isTrue]) =>
    devices
      .filter((device) => statesOf(device).some(isTrue))
      .map(({ id, name }): Chip => ({ text: t(text), name, icon, hue: "alert", device: id })),
  );
}

function jammed(devices: readonly Device[], { i18n: { t } }: EnabledChecks): Chip[] {
  return devices
    .filter((device) => device.available && statesOf(device).some((state) => state.jammed === true))
    .map(({ id, name }) => ({
      text: t("{name} is jammed"),
      name,
      device: id,
      icon: "mdi:lock-alert",
      hue: "alert",
    }));
}

function openings(devices: readonly Device[], { i18n: { t } }: EnabledChecks): Chip[] {
  return devices
    .filter(({ state, available }) => available && state.contact === false)
    .map(({ id, name }) => ({
      text: t("{name} open"),
      name,
      device: id,
      icon: openIcon(name),
      hue: "warn",
    }));
}

function unlocked(devices: readonly Device[], { i18n: { t } }: EnabledChecks): Chip[] {
  return devices
    .filter(({ kind, state }) => kind === "lock" && state.locked === false && state.jammed !== true)
    .map(({ id, name }) => ({
      text: t("{name} unlocked"),
      name,
      device: id,
      icon: "mdi:lock-open-variant",
      hue: "warn",
    }));
}

function unreachable(devices: readonly Device[], { i18n: { t, fmt } }: EnabledChecks): Chip[] {
  const away = devices.filter(({ available }) => !available);
  const icon = "mdi:lan-disconnect";
  if (away.length > MOST_NAMES) {
    const text = t("{count} devices do not answer", { count: fmt.number(away.length) });
    return [{ text, icon, hue: "warn" }];
  }
  return away.map(({ id, name }) => ({
    text: t("{name} does not answer"),
    name,
    device: id,
    icon,
    hue: "warn",
  }));
}

/** The emptiest first, locks before all others, because a flat one locks people out. */
function lowBatteries(devices: readonly Device[], wanted: EnabledChecks): Chip[] {
  const { t, fmt } = wanted.i18n;
  const low = devices.flatMap((device) => {
    const { battery, batteryLow } = device.state;
    const level = typeof battery === "number" ? battery : undefined;
    const isLow = level === undefined ? batteryLow === true : level < wanted.batteryBelow;
    return isLow
      ? [{ device, level, order: (device.kind === "lock" ? 0 : 1_000) + (level ?? 0) }]
      : [];
  });
  return low
    .toSorted((one, other) => one.order - other.order)
    .map(({ device: { id, name }, level }): Chip => {
      const text =
        level === undefined
          ? t("{name}: battery low")
          : t("{name}: battery {percent}", { percent: fmt.unit(level, "percent") });
      return { text, name, device: id, icon: "mdi:battery-alert-variant-outline", hue: "warn" };
    });
}
