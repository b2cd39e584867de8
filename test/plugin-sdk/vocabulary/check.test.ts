import assert from "node:assert/strict";
import { test } from "node:test";
import { type Capability, DEVICE_KINDS, type DeviceKind } from "../../../plugin-sdk/device.ts";
import {
  canonicalCapability,
  faultsOfVocabulary,
  isCanonicalName,
  KINDS,
  READINGS,
} from "../../../plugin-sdk/vocabulary/index.ts";

const PERCENT = { type: "number", min: 0, max: 100, unit: "%" } as const;
const YES_NO = { type: "boolean", readOnly: true } as const;

const accepted: readonly [string, DeviceKind, string, Capability][] = [
  ["the whole range", "light", "brightness", PERCENT],
  ["a part of the range", "light", "brightness", { ...PERCENT, min: 10, max: 90 }],
  ["a setting that can only be read", "cover", "position", { ...PERCENT, readOnly: true }],
  [
    "some of the values",
    "cover",
    "action",
    { type: "choice", values: ["opening"], readOnly: true },
  ],
  ["presets of its own", "fan", "preset", { type: "choice", values: ["breeze"] }],
  ["players of its own", "media-player", "group", { type: "choice", values: ["Kitchen"] }],
  ["a reading of any kind of device", "lock", "battery", { ...PERCENT, readOnly: true }],
  ["a value in any unit", "sensor", "value", { type: "number", unit: "kg" }],
  ["a command", "cover", "stop", { type: "command" }],
  ["a code, which has no state", "lock", "code", { type: "text" }],
  ["a name outside the vocabulary", "light", "candlePower", { type: "text" }],
];
for (const [what, kind, name, capability] of accepted) {
  test(`${what} is accepted: ${name} of a ${kind}`, () => {
    assert.deepEqual(faultsOfVocabulary(kind, { [name]: capability }), []);
  });
}

const refused: readonly [DeviceKind, string, Capability, RegExp][] = [
  ["light", "brightness", { ...PERCENT, max: 255 }, /within 0 to 100 %/],
  ["light", "brightness", { ...PERCENT, min: -1 }, /within 0 to 100 %/],
  ["light", "brightness", { type: "number", unit: "lx" }, /a number in %/],
  ["light", "on", { type: "text" }, /of the type boolean \(true while it is on\)/],
  ["light", "position", PERCENT, /belongs to cover, valve, group and not to light/],
  ["thermostat", "locked", YES_NO, /belongs to lock and not to thermostat; put it under "extra"/],
  ["sensor", "temperature", { type: "number", unit: "°C" }, /must be read-only/],
  ["sensor", "temperature", { type: "number", unit: "K", readOnly: true }, /a number in °C/],
  ["sensor", "uvIndex", { type: "number", unit: "%", readOnly: true }, /a number without unit/],
  [
    "cover",
    "action",
    { type: "choice", values: ["up"], readOnly: true },
    /opening, closing, stopped/,
  ],
  ["media-player", "groupName", { type: "text" }, /must be read-only/],
  ["light", "group", { type: "choice", values: ["Kitchen"] }, /belongs to media-player/],
  ["vacuum", "dock", { type: "command", readOnly: true }, /a command, and not read-only/],
];
for (const [kind, name, capability, expected] of refused) {
  test(`${name} of a ${kind} with another meaning is refused: ${expected.source}`, () => {
    const faults = faultsOfVocabulary(kind, { [name]: capability });

    assert.equal(faults.length, 1);
    assert.equal(faults[0]?.pointer, `/${name}`);
    assert.match(faults[0]?.detail ?? "", expected);
  });
}

test("names of every object are not in the vocabulary", () => {
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    assert.equal(canonicalCapability("light", name), undefined);
    assert.equal(isCanonicalName(name), false);
  }
});

test("each kind is described, and a name has one type and unit on all kinds", () => {
  const forms = new Map<string, string>();
  for (const kind of DEVICE_KINDS) {
    for (const [name, { types, unit }] of Object.entries(KINDS[kind].capabilities)) {
      const form = `${types.join(" or ")} ${unit ?? ""}`;
      assert.equal(forms.get(name) ?? form, form, name);
      assert.ok(!Object.hasOwn(READINGS, name), `${name} is a reading of every kind as well`);
      forms.set(name, form);
    }
  }
});
