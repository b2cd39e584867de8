import type { I18n } from "../i18n.ts";
import { type Look, type LookOf, theme, UNKNOWN, wordOf } from "./appearance.ts";
import { shownReading } from "./reading.ts";

/** Readings of the device itself, which its tile shows only if there is nothing else. */
const ASIDE = /^(battery.*|signal|tamper|problem|updateAvailable)$/;
const ALARMING = /^(waterLeak|smoke|gas|carbonMonoxide|tamper|problem|unsafe|sos|hot|cold)$/;
/** Readings that are yes or no, and not a thing that is detected. */
const YES_OR_NO =
  /^(active|value|hot|cold|connected|pluggedIn|charging|running|poweredOn|batteryLow|updateAvailable|unsafe|problem|raining)$/;

/** A yes or no. */
export const binaryLook: LookOf = (_, state, i18n) => {
  const { t } = i18n;
  const hue = theme("warn");
  if (typeof state.contact === "boolean") {
    return { hue, on: !state.contact, value: t(state.contact ? "Closed" : "Open") };
  }
  const facts = Object.entries(state).filter(([, each]) => typeof each === "boolean");
  const [name, value] = facts.find(([field]) => !ASIDE.test(field)) ?? facts[0] ?? [];
  if (name === undefined) return { hue, on: false, value: UNKNOWN };
  const on = value === true;
  const [yes, no] = YES_OR_NO.test(name) ? ["Yes", "No"] : ["Detected", "Clear"];
  return { hue: theme(ALARMING.test(name) ? "alert" : "info"), on, value: t(on ? yes : no) };
};

/** The first value that a sensor measures. */
export const sensorLook: LookOf = (device, state, i18n) => {
  const { capabilities } = device;
  const look = { hue: theme("info"), on: false };
  const known = Object.keys(capabilities).filter(
    (name) => (state[name] ?? undefined) !== undefined,
  );
  for (const name of known) {
    const [value, capability] = [state[name], capabilities[name]];
    if (typeof value !== "number" || capability?.type !== "number" || ASIDE.test(name)) continue;
    return { ...look, ...shownReading(value, capability, i18n) };
  }
  const { value } = state;
  if (typeof value === "boolean") return binaryLook(device, state, i18n);
  return { ...look, value: wordOf(value, i18n) };
};

/** A weather station shows its temperature, or else the first value, or the weather as a word. */
export const stationLook: LookOf = (device, state, i18n) => {
  const { temperature, ...others } = device.capabilities;
  const capabilities = temperature ? { temperature, ...others } : others;
  const look = sensorLook({ ...device, capabilities }, state, i18n);
  return look.value === UNKNOWN ? { ...look, value: wordOf(state.condition, i18n) } : look;
};

export const cameraLook: LookOf = (_, { on, recording, streaming, motion }, i18n) => ({
  hue: theme(recording === true ? "alert" : "info"),
  on: [recording, streaming, motion].includes(true),
  value: said(i18n, [
    [recording === true, "Recording"],
    [streaming === true, "Live"],
    [motion === true, "Motion"],
    [on === false, "Off"],
    [[on, recording, streaming, motion].some((each) => typeof each === "boolean"), "On"],
  ]),
});

export const doorbellLook: LookOf = (_, { ringing, motion }, i18n) => ({
  hue: theme("warn"),
  on: ringing === true || motion === true,
  value: said(i18n, [
    [ringing === true, "Rings"],
    [motion === true, "Motion"],
    [ringing === false || motion === false, "Quiet"],
  ]),
});

/** A person or thing: at home, in a zone that has a name, or away. */
export const trackerLook: LookOf = (_, { home, zone }, i18n): Look => ({
  hue: theme("ok"),
  on: home === true,
  value:
    home !== true && typeof zone === "string" && zone !== ""
      ? zone
      : said(i18n, [
          [home === true, "At home"],
          [home === false, "Away"],
        ]),
});

/** The first word that applies. */
function said({ t }: I18n, words: readonly (readonly [applies: boolean, word: string])[]): string {
  const [, word] = words.find(([applies]) => applies) ?? [];
  return word === undefined ? UNKNOWN : t(word);
}
