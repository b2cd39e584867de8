import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import type { Config } from "../../../host/config/schema.ts";
import type { Module } from "../../../host/modules/lifecycle/module.ts";
import { limitsOf } from "../../../host/modules/manifest/limits.ts";
import { isAffected, isTold, reconcile } from "../../../host/modules/reconcile.ts";

interface Made {
  readonly state?: ModuleState;
  readonly canStart?: boolean;
  readonly reason?: string;
  readonly start?: () => Promise<void>;
  readonly starts?: ModuleState;
  /** True for a module without code of its own process. */
  readonly isWidget?: boolean;
}

const STARTED: readonly ModuleState[] = ["active", "degraded", "reloading", "quarantined"];

/** Modules that are none; `steps` tells what they were asked to do. */
function stage() {
  const steps: string[] = [];
  const module = (id: string, manifest: Partial<Manifest> = {}, made: Made = {}): Module => {
    const { state = "disabled", canStart = state === "disabled", start, starts } = made;
    const code = made.isWidget === true ? {} : { server: "index.ts" };
    const status = { hasStarted: STARTED.includes(state) };
    return {
      id,
      plugin: { id, manifest: { id, kinds: ["service"], ...code, ...manifest } },
      view: {
        state,
        error: made.reason === undefined ? null : { message: made.reason },
        limits: limitsOf(manifest),
      },
      status,
      canStart,
      start: async () => {
        steps.push(`start ${id}`);
        status.hasStarted = STARTED.includes(starts ?? "active");
        await start?.();
      },
      stop: async (reason?: string) => void steps.push(`stop ${id}: ${reason}`),
    } as unknown as Module;
  };
  return { steps, module };
}

const config = (settings: object = {}): Config => ({ modules: {}, ...settings }) as Config;
const bridge = (kind: string) => ({ bridge: { kind, commandsPerSecond: 1 } });
const FALLBACK = { ...bridge("demo"), fallbackFor: { bridges: true } };

test("modules that can start are started, and others are left alone", async () => {
  const { steps, module } = stage();

  await reconcile(
    [
      module("lamp"),
      module("clock", {}, { state: "active" }),
      module("odd", {}, { state: "failed" }),
    ],
    config(),
  );

  assert.deepEqual(steps, ["start lamp"]);
});

test("a module disabled in the config is stopped once, and the reason names the config key", async () => {
  const { steps, module } = stage();
  const reason = "modules.off.enabled is false in the config";
  const modules = [
    module("lamp", {}, { state: "active" }),
    module("off", {}, { reason }),
    module("other", {}, { reason: "another reason" }),
  ];

  await reconcile(
    modules,
    config({
      modules: { lamp: { enabled: false }, off: { enabled: false }, other: { enabled: false } },
    }),
  );

  assert.deepEqual(steps, [
    "stop lamp: modules.lamp.enabled is false in the config",
    "stop other: modules.other.enabled is false in the config",
  ]);
});

test("a fallback for a config setting stops when that setting is set", async () => {
  const { steps, module } = stage();
  const own = { fallbackFor: { config: ["mqtt.url", "mqtt.host"] } };
  const asks = (settings: object) =>
    reconcile([module("broker", own, { state: "active" })], config(settings));

  await asks({});
  await asks({ mqtt: {} });
  await asks({ mqtt: null });
  await asks({ mqtt: { url: null } });
  await asks({ mqtt: "url" });
  assert.deepEqual(steps, []);
  await asks({ mqtt: { host: "" } });

  assert.deepEqual(steps, ["stop broker: it is not needed because mqtt.host is set"]);
});

test("a module that the config enables runs also where it is not needed", async () => {
  const { steps, module } = stage();
  const modules = [module("hue", bridge("hue"), { state: "active" }), module("demo", FALLBACK)];

  await reconcile(modules, config({ modules: { demo: { enabled: true } } }));

  assert.deepEqual(steps, ["start demo"]);
});

const OTHERS: readonly (readonly [
  what: string,
  manifest: Partial<Manifest>,
  state: ModuleState,
  isNeeded: boolean,
])[] = [
  ["a bridge that works", bridge("hue"), "active", false],
  ["a bridge that cannot reach its devices", bridge("hue"), "degraded", false],
  ["a quarantined bridge", bridge("hue"), "quarantined", false],
  ["a bridge that failed", bridge("hue"), "failed", true],
  ["a bridge that is not configured", bridge("hue"), "unconfigured", true],
  ["a bridge that stops", bridge("hue"), "stopping", true],
  ["a service", {}, "active", true],
  ["another fallback", FALLBACK, "active", true],
];

for (const [what, manifest, state, isNeeded] of OTHERS) {
  test(`beside ${what} a fallback bridge ${isNeeded ? "starts" : "stays stopped"}`, async () => {
    const { steps, module } = stage();

    await reconcile([module("demo", FALLBACK), module("hue", manifest, { state })], config());

    const reason = "it is not needed because the bridge hue runs";
    assert.deepEqual(steps, [isNeeded ? "start demo" : `stop demo: ${reason}`]);
  });
}

test("a fallback bridge starts beside a bridge that the config disables", async () => {
  const { steps, module } = stage();
  const reason = "modules.hue.enabled is false in the config";

  await reconcile(
    [module("demo", FALLBACK), module("hue", bridge("hue"), { reason })],
    config({ modules: { hue: { enabled: false } } }),
  );

  assert.deepEqual(steps, ["start demo"]);
});

test("real bridges run beside each other", async () => {
  const { steps, module } = stage();

  await reconcile(
    [module("hue", bridge("hue"), { state: "active" }), module("zigbee", bridge("zigbee"))],
    config(),
  );

  assert.deepEqual(steps, ["start zigbee"]);
});

test("fallbacks are decided after the real bridges have started", async () => {
  const { steps, module } = stage();

  await reconcile([module("demo", FALLBACK), module("hue", bridge("hue"))], config());

  assert.deepEqual(steps, ["start hue", "stop demo: it is not needed because the bridge hue runs"]);
});

test("a fallback starts when the real bridge does not start", async () => {
  const { steps, module } = stage();

  await reconcile(
    [module("demo", FALLBACK), module("hue", bridge("hue"), { starts: "unconfigured" })],
    config(),
  );

  assert.deepEqual(steps, ["start hue", "start demo"]);
});

test("modules stop before others start, because they may hold their names", async () => {
  const { steps, module } = stage();
  const modules = [module("next"), module("last", {}, { state: "active" })];

  await reconcile(modules, config({ modules: { last: { enabled: false } } }));

  assert.deepEqual(steps, ["stop last: modules.last.enabled is false in the config", "start next"]);
});

test("at most four modules start at the same time", async () => {
  const { steps, module } = stage();
  const ends: (() => void)[] = [];
  const start = () => new Promise<void>((end) => ends.push(end));
  const modules = ["1", "2", "3", "4", "5", "6"].map((id) => module(id, {}, { start }));

  const done = reconcile(modules, config());
  await setImmediate();
  const first = steps.length;
  ends.shift()?.();
  await setImmediate();
  const second = steps.length;
  for (let end = ends.shift(); end; end = ends.shift()) {
    end();
    await setImmediate();
  }
  await done;

  assert.deepEqual([first, second, steps.length], [4, 5, 6]);
});

test("fallbacks and widgets wait for no other module, and widgets start one after the other", async () => {
  const { steps, module } = stage();
  const ends: (() => void)[] = [];
  const start = () => new Promise<void>((end) => ends.push(end));
  const modules = [
    ...["1", "2", "3"].map((id) => module(id, {}, { start })),
    ...["clock", "note"].map((id) => module(id, {}, { start, isWidget: true })),
    module("demo", FALLBACK),
    module("hue", bridge("hue"), { starts: "unconfigured" }),
  ];

  const done = reconcile(modules, config());
  await setImmediate();
  const begun = steps.toSorted();
  for (let end = ends.shift(); end; end = ends.shift()) {
    end();
    await setImmediate();
  }
  await done;

  const first = ["start 1", "start 2", "start 3", "start clock", "start demo", "start hue"];
  assert.deepEqual(begun, first);
  assert.deepEqual(steps.slice(first.length), ["start note"]);
});

const CHANGES: readonly (readonly [
  what: string,
  changed: readonly string[],
  manifest: Partial<Manifest>,
  isConcerned: boolean,
])[] = [
  ["its section", ["lamp"], {}, true],
  ["a key of its section", ["lamp.address"], {}, true],
  ["its settings", ["modules.lamp"], {}, true],
  ["the language", ["ui.locale"], {}, false],
  ["the time zone", ["other", "ui.timeZone"], {}, false],
  ["the theme", ["ui.theme"], {}, false],
  ["another plugin", ["lamp2.address", "modules.lamp2", "modules"], {}, false],
  ["the polling of devices", ["devices.pollSeconds"], {}, false],
  ["the polling of devices, as a bridge", ["devices.pollSeconds"], bridge("hue"), false],
  ["nothing", [], bridge("hue"), false],
];

for (const [what, changed, manifest, isConcerned] of CHANGES) {
  test(`after a change of ${what} a module ${isConcerned ? "starts again" : "continues"}`, () => {
    const { module } = stage();

    const running = module("lamp", manifest, { state: "active" });

    assert.equal(isAffected(running, changed, config()), isConcerned);
  });
}

test("every module is told the language and the time zone, and only bridges the polling of devices", () => {
  const { module } = stage();
  const [lamp, hue] = [module("lamp"), module("hue", bridge("hue"))];

  const told = ["ui.locale", "ui.timeZone", "devices.pollSeconds", "ui.theme"].map((key) => [
    isTold(lamp, [key]),
    isTold(hue, [key]),
  ]);

  assert.deepEqual(told, [
    [true, true],
    [true, true],
    [false, true],
    [false, false],
  ]);
});

test("other limits in the config start a module again", () => {
  const { module } = stage();
  const limited = config({ modules: { lamp: { limits: { memoryMiB: 100 } } } });

  assert.equal(isAffected(module("lamp", {}, { state: "active" }), [], limited), true);
});

test("a disabled module, or one that this config change disables, is not reloaded", () => {
  const { module } = stage();
  const off = config({ modules: { lamp: { enabled: false } } });

  assert.equal(isAffected(module("lamp"), ["lamp"], config()), false);
  assert.equal(isAffected(module("lamp", {}, { state: "active" }), ["lamp"], off), false);
});
