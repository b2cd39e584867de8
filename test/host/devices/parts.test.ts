import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Capability, DeviceDescription } from "@mantel/plugin-sdk/device";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { Commands } from "../../../host/devices/commands.ts";
import { until } from "../../helpers/until.ts";
import { blind, createBridge, fanWithLight, lamp, openDevices } from "./open-devices.ts";

const FAN = "demo:fan:1";
const BLIND = "demo:cover:1";

async function openHome(t: TestContext, ...descriptions: DeviceDescription[]) {
  const bridge = createBridge("b", "demo");
  const home = await openDevices(t, [bridge]);
  await home.devices.publish("b", descriptions);
  home.heard();
  const held: (() => void)[] = [];
  const hold = () => {
    bridge.answer = () => new Promise((resolve) => held.push(resolve));
    return held;
  };
  return { ...home, bridge, hold, commands: new Commands(home) };
}

const faultsOf = (work: () => unknown) => {
  let faults: readonly { pointer: string; detail: string }[] = [];
  assert.throws(work, (error: MantelError) => {
    assert.equal(error.code, "invalid");
    faults = error.extras.errors ?? [];
    return true;
  });
  return faults;
};

test("parts and extras are shown with their states and pending values", async (t) => {
  const { devices } = await openHome(t, fanWithLight(), lamp("a"));

  const { parts, extra, pending } = devices.get(FAN);

  const [described] = fanWithLight().parts ?? [];
  assert.deepEqual(parts, [{ ...described, pending: {} }]);
  assert.deepEqual(extra, { ...fanWithLight().extra, pending: {} });
  assert.deepEqual(pending, {});
  assert.equal("assumed" in devices.get(FAN), false);
  for (const name of ["parts", "extra", "assumed"]) {
    assert.equal(name in devices.get("demo:light:1"), false);
  }
});

test("the answer has the numbers that parts report, and a cover on its way keeps the requested position", async (t) => {
  const action: Capability = { type: "choice", values: ["opening", "stopped"], readOnly: true };
  const moving = blind({ capabilities: { ...blind().capabilities, action } });
  const { bridge, commands, devices } = await openHome(t, fanWithLight(), moving);
  bridge.answer = (nativeId) =>
    devices.update("b", [
      nativeId === "fan"
        ? { nativeId, parts: { light: { brightness: 61 } } }
        : { nativeId, state: { position: 12, action: "opening" } },
    ]);

  const fan = await commands.send(FAN, { parts: { light: { brightness: 60 } } }).done;
  const cover = await commands.send(BLIND, { position: 80 }).done;

  assert.deepEqual(fan.applied, { parts: { light: { on: true, brightness: 61 } } });
  assert.deepEqual(cover.applied, { position: 80 });
});

test("an update changes the named fields of parts and extras, once", async (t) => {
  const { devices, heard } = await openHome(t, fanWithLight());
  const before = devices.get(FAN);
  const update = { nativeId: "fan", parts: { light: { on: true } }, extra: { linkQuality: 90 } };

  await devices.update("b", [update]);
  const after = devices.get(FAN);
  await devices.update("b", [update]);

  assert.deepEqual(after.parts?.[0]?.state, { on: true, brightness: 40 });
  assert.deepEqual(after.extra?.state, { childLock: false, linkQuality: 90 });
  assert.deepEqual(after.state, before.state);
  assert.ok(after.revision > before.revision);
  assert.ok((after.stateChangedAt ?? "") >= (before.stateChangedAt ?? ""));
  assert.deepEqual(heard(), [`device.state ${FAN}`]);
  assert.equal(devices.get(FAN), after);
});

test("a changed value of a part counts as a change of the device's state, a new name of it does not", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  const { devices } = await openHome(t, fanWithLight());
  const changedAt = () => Date.parse(devices.get(FAN).stateChangedAt ?? "");

  t.mock.timers.setTime(2_000_000);
  const [light] = fanWithLight().parts ?? [];
  assert.ok(light);
  await devices.publish("b", [fanWithLight({ parts: [{ ...light, name: "Ceiling" }] })]);
  const renamed = [devices.get(FAN).parts?.[0]?.name, changedAt()];
  t.mock.timers.setTime(3_000_000);
  await devices.update("b", [{ nativeId: "fan", parts: { light: { brightness: 41 } } }]);
  const dimmed = changedAt();
  t.mock.timers.setTime(4_000_000);
  await devices.update("b", [{ nativeId: "fan", extra: { childLock: true } }]);

  assert.deepEqual(renamed, ["Ceiling", 1_000_000]);
  assert.deepEqual([dimmed, changedAt()], [3_000_000, 4_000_000]);
});

test("parts, extras and the mark of a silent device go when the bridge no longer lists them", async (t) => {
  const { devices } = await openHome(t, fanWithLight({ assumed: true }));
  assert.equal(devices.get(FAN).assumed, true);

  const { nativeId, kind, name, capabilities, state } = fanWithLight();
  await devices.publish("b", [{ nativeId, kind, name, capabilities, state }]);

  const shown = devices.get(FAN);
  assert.deepEqual(
    ["parts", "extra", "assumed"].filter((field) => field in shown),
    [],
  );
});

test("an update for a part or an extra that was not published is refused, and the others apply", async (t) => {
  const { devices } = await openHome(t, fanWithLight(), lamp("a"));

  await assert.rejects(
    devices.update("b", [
      { nativeId: "fan", parts: { lamp: { on: true } } },
      { nativeId: "fan", extra: { turbo: true } },
      { nativeId: "fan", extra: { identify: true } },
      { nativeId: "a", parts: { light: { on: true } } },
      { nativeId: "a", extra: { childLock: true } },
      { nativeId: "a", state: { on: true } },
    ]),
    (error: MantelError) => {
      assert.deepEqual(error.extras.errors, [
        { pointer: "/parts/lamp", detail: "of fan is not a part of the device" },
        { pointer: "/extra/turbo", detail: "of fan has no capability" },
        { pointer: "/extra/identify", detail: "of fan is a command, which has no state" },
        { pointer: "/parts/light", detail: "of a is not a part of the device" },
        { pointer: "/extra/childLock", detail: "of a has no capability" },
      ]);
      return true;
    },
  );
  assert.equal(devices.get("demo:light:1").state["on"], true);
});

test("a command for parts and extras reaches the bridge as one, and is pending where it belongs", async (t) => {
  const { bridge, commands, devices, hold } = await openHome(t, fanWithLight());
  const held = hold();
  const body = { on: true, parts: { light: { brightness: 5 } }, extra: { childLock: true } };

  const { done, commandId } = commands.send(FAN, body);
  const { pending, parts, extra } = devices.get(FAN);
  held[0]?.();
  const { applied, device } = await done;

  assert.deepEqual(bridge.asked, [
    {
      nativeId: "fan",
      command: { on: true },
      commandId,
      beyond: { parts: { light: { on: true, brightness: 5 } }, extra: { childLock: true } },
    },
  ]);
  assert.deepEqual(
    [pending, parts?.[0]?.pending, extra?.pending],
    [{ on: true }, { on: true, brightness: 5 }, { childLock: true }],
  );
  assert.deepEqual(applied, {
    on: true,
    parts: { light: { on: true, brightness: 5 } },
    extra: { childLock: true },
  });
  assert.deepEqual(
    [device.pending, device.parts?.[0]?.pending, device.extra?.pending],
    [{}, {}, {}],
  );
});

test("a command of a part leaves the device's own fields alone, and brightness 0 turns the part off", async (t) => {
  const { bridge, commands } = await openHome(t, fanWithLight());

  await commands.send(FAN, { parts: { light: { brightness: 0 } } }).done;
  await commands.send(FAN, { extra: { identify: true } }).done;
  await commands.send(FAN, { on: true }).done;

  assert.deepEqual(
    bridge.asked.map(({ command, beyond }) => [command, beyond]),
    [
      [{}, { parts: { light: { on: false } }, extra: {} }],
      [{}, { parts: {}, extra: { identify: true } }],
      [{ on: true }, undefined],
    ],
  );
});

test("waiting commands merge by field of each part, and only a caller without a last value is superseded", async (t) => {
  const { bridge, commands, hold } = await openHome(t, fanWithLight());
  const held = hold();
  const sent = [
    commands.send(FAN, { on: true }),
    commands.send(FAN, { parts: { light: { brightness: 10 } } }),
    commands.send(FAN, { on: false, extra: { childLock: true } }),
    commands.send(FAN, { parts: { light: { brightness: 20 } } }),
    commands.send(FAN, { on: true }),
  ];

  held[0]?.();
  await until(() => held[1]);
  held[1]?.();
  const outcomes = await Promise.all(sent.map(({ done }) => done));

  assert.deepEqual(
    [bridge.asked[1]?.command, bridge.asked[1]?.beyond],
    [{ on: true }, { parts: { light: { on: true, brightness: 20 } }, extra: { childLock: true } }],
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["applied", "superseded", "applied", "applied", "applied"],
  );
});

test("a command without state is neither pending nor a state, and is in the answer", async (t) => {
  const { commands, devices, heard, hold } = await openHome(t, blind({ assumed: true }));
  const held = hold();

  const { done } = commands.send(BLIND, { stop: true });
  const during = devices.get(BLIND).pending;
  held[0]?.();
  const { applied, device } = await done;

  assert.deepEqual([during, applied], [{}, { stop: true }]);
  assert.deepEqual([device.state, device.pending], [blind().state, {}]);
  assert.deepEqual(heard(), []);
});

for (const [what, bodies, sent, statuses] of [
  ["stop replaces a position", [{ position: 80 }, { stop: true }], { stop: true }, "sa"],
  ["a position replaces stop", [{ stop: true }, { position: 80 }], { position: 80 }, "sa"],
  ["close replaces open", [{ open: true }, { close: true }], { close: true }, "sa"],
  ["open keeps a tilt", [{ tilt: 50 }, { open: true }], { tilt: 50, open: true }, "aa"],
  [
    "stop replaces position and tilt",
    [{ position: 1, tilt: 2 }, { stop: true }],
    { stop: true },
    "sa",
  ],
  [
    "the last of three counts",
    [{ open: true }, { stop: true }, { close: true }],
    { close: true },
    "ssa",
  ],
] as const) {
  test(`while a cover is busy, ${what}`, async (t) => {
    const { bridge, commands, hold } = await openHome(t, blind());
    const held = hold();
    const first = commands.send(BLIND, { position: 50 });
    const later = bodies.map((body) => commands.send(BLIND, body));

    held[0]?.();
    await first.done;
    await until(() => held[1]);
    held[1]?.();
    const outcomes = await Promise.all(later.map(({ done }) => done));

    assert.deepEqual(bridge.asked[1]?.command, sent);
    assert.equal(outcomes.map(({ status }) => status[0]).join(""), statuses);
  });
}

test("a code goes only with its own command, and is never shown", async (t) => {
  const lock: DeviceDescription = {
    nativeId: "door",
    kind: "lock",
    name: "Door",
    capabilities: { locked: { type: "boolean" }, code: { type: "text" } },
    state: { locked: true },
  };
  const { bridge, commands, devices, hold } = await openHome(t, lock);
  const held = hold();
  const send = (body: object) => commands.send("demo:lock:1", body);

  const first = send({ locked: false, code: "1234" });
  const pending = devices.get("demo:lock:1").pending;
  const second = send({ locked: true, code: "5678" });
  const third = send({ locked: false });
  held[0]?.();
  const { applied } = await first.done;
  await until(() => held[1]);
  held[1]?.();

  assert.deepEqual([pending, applied], [{ locked: false }, { locked: false }]);
  assert.equal((await second.done).status, "superseded");
  assert.equal((await third.done).status, "applied");
  assert.deepEqual(
    bridge.asked.map(({ command }) => command),
    [{ locked: false, code: "1234" }, { locked: false }],
  );
  await assert.rejects(devices.update("b", [{ nativeId: "door", state: { code: "1234" } }]), {
    message: /\/state\/code of door is a command, which has no state/,
  });
});

test("the host shows what was sent as the state of a device that never reports", async (t) => {
  const { commands, devices, heard } = await openHome(
    t,
    fanWithLight({ assumed: true, state: {} }),
    lamp("a"),
  );

  await commands.send(FAN, { on: true, parts: { light: { on: true } } }).done;
  await commands.send(FAN, { extra: { childLock: true, identify: true } }).done;
  await commands.send("demo:light:1", { on: true }).done;

  const { state, parts, extra } = devices.get(FAN);
  assert.deepEqual(
    [state, parts?.[0]?.state, extra?.state],
    [{ on: true }, { on: true, brightness: 40 }, { childLock: true, linkQuality: 80 }],
  );
  assert.equal(devices.get("demo:light:1").state["on"], false);
  assert.ok(heard().length > 0);
});

test("a failed command changes no state of a device that never reports", async (t) => {
  const { bridge, commands, devices } = await openHome(t, blind({ assumed: true }));
  bridge.answer = () => Promise.reject(new Error("lost"));

  await assert.rejects(commands.send(BLIND, { position: 90 }).done);

  assert.equal(devices.get(BLIND).state["position"], 40);
});

test("a new list keeps the assumed state and the pending values of parts", async (t) => {
  const silent = () => fanWithLight({ assumed: true, state: {} });
  const { commands, devices, hold } = await openHome(t, silent());
  await commands.send(FAN, { on: true }).done;
  hold();
  commands.send(FAN, { parts: { light: { on: true } } });

  await devices.publish("b", [silent()]);

  const { state, parts } = devices.get(FAN);
  assert.deepEqual([state, parts?.[0]?.pending], [{ on: true }, { on: true }]);
});

for (const [what, body, fault] of [
  [
    "an unknown part",
    { parts: { lamp: { on: true } } },
    ["/parts/lamp", "is not a part of the device; its parts are light"],
  ],
  [
    "a part whose id is a name of JavaScript",
    JSON.parse('{"parts": {"__proto__": {"on": true}}}'),
    ["/parts/__proto__", "is not a part of the device; its parts are light"],
  ],
  [
    "a wrong value of a part",
    { parts: { light: { on: "yes" } } },
    ["/parts/light/on", 'is "yes"; it must be true or false'],
  ],
  [
    "a reading of a part",
    { parts: { light: { power: 3 } } },
    ["/parts/light/power", "is read-only; it takes on, brightness, color, effect"],
  ],
  [
    "an unknown extra",
    { extra: { turbo: true } },
    ["/extra/turbo", "is not an extra of the device; it takes childLock, identify"],
  ],
  [
    "an extra beside the device's own fields",
    { childLock: true },
    [
      "/childLock",
      "is not a capability of the device; it takes on, speed, parts.light, extra.childLock, extra.identify",
    ],
  ],
  [
    "false for a command",
    { extra: { identify: false } },
    ["/extra/identify", "is false; it must be true"],
  ],
  [
    "a list of parts",
    { parts: [] },
    ["/parts", 'must be an object, such as {"light": {"on": true}}'],
  ],
  [
    "null as parts",
    { parts: null },
    ["/parts", 'must be an object, such as {"light": {"on": true}}'],
  ],
  [
    "a part that is not an object",
    { parts: { light: true } },
    ["/parts/light", 'must be an object, such as {"on": true}'],
  ],
  [
    "extras that are not an object",
    { extra: "on" },
    ["/extra", 'must be an object, such as {"childLock": true}'],
  ],
  [
    "empty parts and extras alone",
    { parts: { light: {} }, extra: {} },
    ["", "must have at least one capability of the device"],
  ],
] as const) {
  test(`a command with ${what} is refused`, async (t) => {
    const { bridge, commands } = await openHome(t, fanWithLight());

    assert.deepEqual(
      faultsOf(() => commands.send(FAN, body)),
      [{ pointer: fault[0], detail: fault[1] }],
    );
    assert.deepEqual(bridge.asked, []);
  });
}

test("a device without parts and extras says so", async (t) => {
  const { commands } = await openHome(t, lamp("a"));

  assert.deepEqual(
    faultsOf(() => commands.send("demo:light:1", { parts: { l1: { on: true } }, extra: { a: 1 } })),
    [
      { pointer: "/parts/l1", detail: "is not a part of the device; the device has no parts" },
      {
        pointer: "/extra/a",
        detail: "is not an extra of the device; the device has no extras to set",
      },
    ],
  );
});

test("the stop command accepts only true", async (t) => {
  const { commands } = await openHome(t, blind());

  for (const value of [false, 1, "true", null]) {
    const [fault] = faultsOf(() => commands.send(BLIND, { stop: value }));
    assert.deepEqual(fault, {
      pointer: "/stop",
      detail: `is ${JSON.stringify(value)}; it must be true`,
    });
  }
});
