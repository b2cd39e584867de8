import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import type { Module } from "../../../host/modules/lifecycle/module.ts";
import { BridgeTable, ModuleBridge } from "../../../host/modules/module-bridge.ts";

type Declared = NonNullable<Manifest["bridge"]>;

function openBridge(
  declared?: Partial<Declared>,
  state: ModuleState = "active",
  { id = "lamp", reason }: { readonly id?: string; readonly reason?: string } = {},
) {
  const calls: unknown[] = [];
  const parts = {
    answer: (): unknown => undefined,
    wait: undefined as Promise<void> | undefined,
    isComingBack: false,
  };
  const bridge = declared && { kind: "hue", commandsPerSecond: 10, ...declared };
  const module = {
    id,
    plugin: { manifest: { bridge } },
    callingPlugin: { manifest: { bridge } },
    view: { id, name: "Lamp", error: reason === undefined ? null : { message: reason } },
    status: {
      settledState: state,
      get isComingBack() {
        return parts.isComingBack;
      },
    },
    ready: () => parts.wait,
    call: async (...call: unknown[]) => {
      calls.push(call);
      return parts.answer();
    },
  } as unknown as Module;
  return { bridge: new ModuleBridge(module), module, parts, calls };
}

const STATUS: readonly (readonly [state: ModuleState, status: string])[] = [
  ["active", "ok"],
  ["degraded", "degraded"],
  ["loading", "starting"],
  ["failed", "down"],
  ["quarantined", "down"],
  ["unconfigured", "down"],
];

for (const [state, status] of STATUS) {
  test(`the bridge of a module that is ${state} is ${status}, with the module's reason`, () => {
    const { bridge } = openBridge({}, state, { reason: "what" });

    const view = { id: "lamp", kind: "hue", name: "Lamp", status, reason: "what" };
    assert.deepEqual(bridge.view, view);
    assert.equal(bridge.isEnabled, true);
  });
}

test("a bridge of a disabled module is not enabled, and one without an error has no reason", () => {
  const { bridge } = openBridge({}, "disabled");

  assert.deepEqual([bridge.isEnabled, bridge.view.reason], [false, null]);
});

test("a module that is no longer a bridge has no kind, and the slowest rate", () => {
  const { bridge } = openBridge();

  assert.equal(bridge.view.kind, "");
  const limits = { commandsPerSecond: 1, burst: 1, confirmMs: 5_000, rates: [] };
  assert.deepEqual(bridge.limits, limits);
});

test("the limits are those of the manifest", () => {
  const { bridge } = openBridge({
    commandsPerSecond: 10,
    burst: 3,
    confirmMs: 1_000,
    rates: [{ kinds: ["light"], commandsPerSecond: 5, burst: 2 }],
  });

  assert.deepEqual(bridge.limits, {
    commandsPerSecond: 10,
    burst: 3,
    confirmMs: 1_000,
    rates: [{ kinds: ["light"], commandsPerSecond: 5, burst: 2 }],
  });
});

test("the limits change with the manifest", () => {
  const { bridge, module } = openBridge({ commandsPerSecond: 10 });
  assert.equal(bridge.limits.commandsPerSecond, 10);

  Object.assign(module, { callingPlugin: { manifest: { bridge: { commandsPerSecond: 20 } } } });
  assert.equal(bridge.limits.commandsPerSecond, 20);
  Object.assign(module, { callingPlugin: { manifest: {} } });
  assert.equal(bridge.limits.commandsPerSecond, 1);
});

test("without a burst in the manifest it is the commands of a second, and at least one", () => {
  const { bridge } = openBridge({
    commandsPerSecond: 2.7,
    rates: [{ kinds: ["light"], commandsPerSecond: 0.5 }],
  });

  const { burst, rates } = bridge.limits;
  assert.deepEqual([burst, rates?.[0]?.burst], [2, 1]);
});

test("commands, scenes and pictures are calls with the deadline for confirmations, and videos with longer ones", async () => {
  const { bridge, calls } = openBridge({ confirmMs: 1_000 });

  await bridge.command("1", { on: true }, "c1");
  await bridge.activateScene("evening", "a1");
  await bridge.image("1");
  await bridge.nextFrame("1", 7);
  await bridge.video("1", "an offer");

  assert.deepEqual(calls, [
    ["command", { nativeId: "1", command: { on: true }, commandId: "c1" }, 1_000],
    ["activateScene", { nativeId: "evening", activationId: "a1" }, 1_000],
    ["image", { nativeId: "1" }, 1_000],
    ["nextFrame", { nativeId: "1", after: 7 }, 8_000],
    ["video", { nativeId: "1", offer: "an offer" }, 15_000],
  ]);
});

test("a bridge is coming back while its module is", () => {
  const { bridge, parts } = openBridge({});
  const before = bridge.isComingBack;

  parts.isComingBack = true;

  assert.deepEqual([before, bridge.isComingBack], [false, true]);
});

const DOWN: readonly (readonly [what: string, extras: object, retryAfterMs: number])[] = [
  ["the time to retry of the module", { retryAfterMs: 250 }, 250],
  ["a second to retry", {}, 1_000],
];

for (const [what, extras, retryAfterMs] of DOWN) {
  test(`a command to a module that is down fails as one to its bridge, with ${what}`, async () => {
    const { bridge, parts } = openBridge({});
    const cause = new MantelError("module_down", "it restarts", extras);
    parts.answer = () => {
      throw cause;
    };

    await assert.rejects(bridge.command("1", {}, "c1"), {
      code: "bridge_down",
      message: "lamp: it restarts",
      cause,
      extras: { retryAfterMs },
    });
  });
}

test("other failures of a command are passed on as they are", async () => {
  const { bridge, parts } = openBridge({});
  for (const error of [new MantelError("deadline_passed", "late"), new TypeError("what")]) {
    parts.answer = () => {
      throw error;
    };

    await assert.rejects(bridge.command("1", {}, "c1"), error);
  }
});

test("a bridge is ready when its module is, and fails as a bridge", async () => {
  const { bridge, parts } = openBridge({});
  assert.equal(bridge.ready(), undefined);

  parts.wait = Promise.resolve();
  await bridge.ready();
  parts.wait = Promise.reject(new MantelError("module_down", "it is gone"));

  await assert.rejects(bridge.ready() ?? assert.fail(), { code: "bridge_down" });
});

test("the table lists the bridges that are enabled, and finds all of them", () => {
  const table = new BridgeTable();
  const { module: on } = openBridge({});
  const { module: off } = openBridge({}, "disabled", { id: "off" });
  const { module: service } = openBridge(undefined, "active", { id: "service" });
  table.add(on);
  table.add(off);
  table.add(service);

  assert.deepEqual(
    table.list().map(({ view }) => view.id),
    ["lamp"],
  );
  assert.ok(table.find("off"));
  assert.equal(table.find("service"), undefined);
  table.remove("lamp");
  assert.deepEqual([table.find("lamp"), table.list()], [undefined, []]);
});
