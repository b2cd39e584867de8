import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { setLocale } from "../../../../host/dashboard/i18n/language.ts";
import {
  captured,
  commandIn,
  statelessCommands,
  targetText,
} from "../../../../host/dashboard/settings/scene-targets.ts";
import { deviceOf } from "../../../helpers/device.ts";

const COMMAND = { type: "command" } as const;
const PERCENT = { type: "number", min: 0, max: 100, unit: "%" } as const;
const BLINDS = deviceOf({
  kind: "cover",
  name: "Blinds",
  capabilities: {
    position: PERCENT,
    tilt: PERCENT,
    open: COMMAND,
    stop: COMMAND,
    action: { type: "choice", values: ["opening", "stopped"], readOnly: true },
  },
  state: { position: 40, tilt: 70, action: "stopped" },
  parts: [
    {
      id: "light",
      kind: "light",
      name: "Lamp",
      capabilities: { on: { type: "boolean" } },
      state: { on: true },
      pending: {},
    },
  ],
  extra: {
    capabilities: {
      calm: { type: "boolean", group: "main" },
      childLock: { type: "boolean", group: "configuration" },
    },
    state: { calm: true, childLock: true },
    pending: {},
  },
} satisfies Partial<Device>);
const LOCK = deviceOf({
  kind: "lock",
  capabilities: {
    locked: { type: "boolean" },
    code: { type: "text" },
    unlatch: COMMAND,
    jammed: { type: "boolean", readOnly: true },
  },
  state: { locked: true, jammed: false },
});

test("a captured scene has settings, and no readings, codes, configuration or commands without state", () => {
  assert.deepEqual(captured(BLINDS, undefined), {
    position: 40,
    tilt: 70,
    parts: { light: { on: true } },
    extra: { calm: true },
  });
  assert.deepEqual(captured(LOCK, ""), { locked: true });
});

test("a chosen command takes the place of settings that contradict it", () => {
  assert.deepEqual(
    statelessCommands(BLINDS).map(({ key }) => key),
    ["open", "stop"],
  );
  assert.deepEqual(captured(BLINDS, "open"), {
    tilt: 70,
    open: true,
    parts: { light: { on: true } },
    extra: { calm: true },
  });
});

test("the chosen command of a scene is found in its target, also in a part", () => {
  const fan = deviceOf({
    capabilities: {},
    state: {},
    parts: [
      {
        id: "robot",
        kind: "vacuum",
        name: "Robot",
        capabilities: { dock: COMMAND },
        state: {},
        pending: {},
      },
    ],
  });

  assert.equal(commandIn(BLINDS, { tilt: 70, open: true }), "open");
  assert.equal(commandIn(BLINDS, { position: 4 }), undefined);
  assert.deepEqual(captured(fan, "robot dock"), { parts: { robot: { dock: true } } });
  assert.equal(commandIn(fan, captured(fan, "robot dock")), "robot dock");
});

test("a target is described in the language of the page", (t) => {
  t.after(() => setLocale("en"));
  const target = { on: false, tilt: 70.4, open: true, parts: { light: { on: true } } };
  const english = targetText(BLINDS, { ...target, extra: { calm: true } });

  setLocale("de-DE");

  assert.equal(english, "Off · Slats: 70% · Open fully; Lamp: On; Calm: yes");
  assert.equal(targetText(BLINDS, target), "Aus · Lamellen: 70\u00a0% · Ganz öffnen; Lamp: An");
  assert.equal(targetText(undefined, { mode: "heat-cool" }), "Modus: Heizen und kühlen");
});
