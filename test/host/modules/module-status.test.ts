import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import type { ModuleView } from "../../../host/api/module.ts";
import { describePermission } from "../../../host/modules/consent/requested-permissions.ts";
import { toFault } from "../../../host/modules/errors/to-fault.ts";
import { configuredLimits, limitsOf } from "../../../host/modules/manifest/limits.ts";
import type { PluginPackage } from "../../../host/modules/manifest/manifest.ts";
import type { ResourceUsage } from "../../../host/modules/process/heartbeat.ts";
import {
  invalidPluginView,
  ModuleStatus,
  type StatusOwner,
} from "../../../host/modules/state/status.ts";

const plugin = (version = "1.0.0", title?: string): PluginPackage => ({
  id: "lamp",
  folder: "/lamp",
  version,
  manifest: { id: "lamp", kinds: ["bridge"], server: "index.ts", ...(title ? { title } : {}) },
});
const NO_RESOURCES = {
  cpuPercent: null,
  memoryBytes: null,
  heapBytes: null,
  loopLagP99Ms: null,
  storageBytes: null,
};
const USAGE: ResourceUsage = {
  cpuPercent: 1,
  memoryBytes: 2,
  heapBytes: 3,
  loopLagP99Ms: 4,
  storageBytes: 5,
  storageWarning: undefined,
};
const CONFINEMENT = { level: "kernel", network: "none", reason: null } as const;
const widget = (hash: string): ModuleView["widget"] => ({
  hash,
  url: "",
  runsIn: "frame",
  shipped: false,
  needs: {},
});
const ERROR = { message: "what", file: "index.ts", line: 3 };

/** A status, and the views it reported. */
function openStatus() {
  const views: ModuleView[] = [];
  const parts: { widget: ModuleView["widget"] } = { widget: null };
  const owner: StatusOwner = {
    changed: () => views.push(status.view),
    widget: () => parts.widget,
    limitsOf: ({ manifest }) => limitsOf(manifest),
    confinementOf: () => CONFINEMENT,
  };
  const status = new ModuleStatus(plugin(), owner);
  return { status, views, parts };
}

const clock = (t: TestContext) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });
  return (ms: number) => t.mock.timers.tick(ms);
};

test("a new module is disabled, with its manifest and nothing else known", (t) => {
  clock(t);

  const { status, views } = openStatus();

  const { permissions, ...view } = status.view;
  assert.deepEqual(permissions.added, []);
  assert.deepEqual(view, {
    id: "lamp",
    name: "lamp",
    version: "1.0.0",
    kinds: ["bridge"],
    adds: {},
    limits: limitsOf({}),
    confinement: CONFINEMENT,
    state: "disabled",
    stateSince: "2026-01-01T00:00:00.000Z",
    generation: 0,
    resources: NO_RESOURCES,
    restingSince: null,
    restarts: 0,
    earlier: null,
    heldSince: null,
    lastReload: null,
    consent: null,
    progress: null,
    error: null,
    widget: null,
    trials: [],
  });
  assert.deepEqual(views, []);
  assert.equal(status.isComingBack, false);
});

test("each start is a generation, with the manifest and the widget of its plugin", () => {
  const { status, parts } = openStatus();
  parts.widget = widget("one");

  status.started(plugin());
  status.started(plugin("2.0.0", "Garden lamp"));

  const { generation, version, name, state } = status.view;
  assert.deepEqual([generation, version, name, state], [2, "2.0.0", "Garden lamp", "active"]);
  assert.equal(status.view.widget?.hash, "one");
});

test("a description changes no state", () => {
  const { status } = openStatus();

  status.describe(plugin("2.0.0"));

  const { generation, version, state } = status.view;
  assert.deepEqual([generation, version, state], [0, "2.0.0", "disabled"]);
});

test("the time of a state is that of its begin, also when its error changes", (t) => {
  const tick = clock(t);
  const { status } = openStatus();

  tick(1_000);
  status.become("failed", ERROR);
  tick(1_000);
  status.become("failed", { message: "other" });
  status.showProgress("working");

  assert.equal(status.view.stateSince, "2026-01-01T00:00:01.000Z");
  assert.deepEqual(status.view.error, { message: "other" });
});

test("a disabled module has no widget; another state keeps it", () => {
  const { status, parts } = openStatus();
  parts.widget = widget("one");
  status.started(plugin());

  status.become("stopping");
  const stopping = status.view.widget?.hash;
  status.become("disabled");

  assert.deepEqual([stopping, status.view.widget], ["one", null]);
});

const WORKING: readonly (readonly [state: ModuleState, isWorking: boolean])[] = [
  ["active", true],
  ["degraded", true],
  ["loading", false],
  ["failed", false],
  ["quarantined", false],
  ["unconfigured", false],
  ["disabled", false],
];

for (const [state, isWorking] of WORKING) {
  test(`a reload of a module that is ${state} counts as ${state} until it ends`, () => {
    const { status } = openStatus();
    status.become(state);

    status.become("reloading");
    status.become("reloading");

    assert.deepEqual([status.settledState, status.isWorking], [state, isWorking]);
  });
}

test("a widget's change is a generation only for a module without a process", () => {
  const { status, parts } = openStatus();
  status.started(plugin());
  parts.widget = widget("two");

  status.widgetChanged(plugin("2.0.0"), false);
  const { generation, version, widget: shown } = status.view;
  status.widgetChanged(plugin("3.0.0"), true);

  assert.deepEqual([generation, version, shown?.hash], [1, "2.0.0", "two"]);
  assert.deepEqual([status.view.generation, status.view.version], [2, "3.0.0"]);
});

test("a moved widget is shown again; a module without one reports nothing", () => {
  const { status, parts, views } = openStatus();
  status.widgetMoved();
  const without = views.length;
  parts.widget = widget("one");
  status.started(plugin());
  parts.widget = widget("moved");

  status.widgetMoved();

  assert.equal(without, 0);
  assert.equal(status.view.widget?.hash, "moved");
});

test("a crashed module counts its restarts, and comes back until that is given up", () => {
  const { status, views } = openStatus();
  status.started(plugin());

  status.restarting(ERROR, true);
  status.restarting(ERROR, true);
  const { state, error, restarts } = status.view;
  const isComingBack = status.isComingBack;
  views.length = 0;
  status.stopExpectingRestart();
  status.stopExpectingRestart();

  assert.deepEqual([state, error, restarts, isComingBack], ["loading", ERROR, 2, true]);
  assert.equal(status.isComingBack, false);
  assert.equal(views.length, 1, "reported once");
});

test("a crashed module no longer comes back once it has started or has another state", () => {
  const { status } = openStatus();

  status.restarting(ERROR, true);
  status.started(plugin());
  const started = status.isComingBack;
  status.restarting(ERROR, true);
  status.become("quarantined");

  assert.deepEqual([started, status.isComingBack], [false, false]);
});

test("the reason of a degraded module is shown until it works again", () => {
  const { status, views } = openStatus();
  status.started(plugin());
  views.length = 0;

  status.degraded("no route to the lamp");
  status.degraded("no route to the lamp");
  const { state, error } = status.view;
  const reported = views.length;
  status.degraded(undefined);

  assert.deepEqual([state, error], ["degraded", { message: "no route to the lamp" }]);
  assert.equal(reported, 1);
  assert.deepEqual([status.view.state, status.view.error], ["active", null]);
});

test("a module that reports its reason during its start is degraded once it has started", () => {
  const { status } = openStatus();
  status.become("loading");

  status.degraded("no route to the lamp");
  const { state } = status.view;
  status.started(plugin());

  assert.deepEqual([state, status.view.state], ["loading", "degraded"]);
});

test("a crash and a new process end the reason of a degraded module", () => {
  const { status } = openStatus();
  status.started(plugin());
  status.degraded("no route");
  status.restarting(ERROR, false);
  status.started(plugin());
  const afterCrash = status.view.state;
  status.degraded("no route");
  status.forgetDegraded();
  status.started(plugin());

  assert.deepEqual([afterCrash, status.view.state], ["active", "active"]);
});

test("usage is shown without a report, and is unknown without a process", () => {
  const { status, views } = openStatus();
  status.started(plugin());
  views.length = 0;

  status.uses(USAGE);
  const { storageWarning: _, ...resources } = USAGE;
  assert.deepEqual(status.view.resources, resources);
  status.uses(undefined);

  assert.deepEqual(status.view.resources, NO_RESOURCES);
  assert.deepEqual(views, []);
});

test("a storage warning degrades a working module, and its own reason is more important", () => {
  const { status, views } = openStatus();
  status.started(plugin());
  views.length = 0;

  status.uses({ ...USAGE, storageWarning: "nearly full" });
  status.uses({ ...USAGE, storageWarning: "nearly full" });
  const { state, error } = status.view;
  const reported = views.length;
  status.degraded("no route");
  const both = status.view.error;
  status.degraded(undefined);
  status.uses(undefined);

  assert.deepEqual([state, error, reported], ["degraded", { message: "nearly full" }, 1]);
  assert.deepEqual(both, { message: "no route" });
  assert.equal(status.view.state, "active");
});

test("a storage warning does not change the state of a module that does not work", () => {
  const { status, views } = openStatus();
  status.become("quarantined", ERROR);
  views.length = 0;

  status.uses({ ...USAGE, storageWarning: "nearly full" });

  assert.deepEqual([status.view.state, status.view.error, views], ["quarantined", ERROR, []]);
});

test("the end of a reload returns to the state before it, with its time and result", (t) => {
  const tick = clock(t);
  const { status } = openStatus();
  status.started(plugin());
  status.degraded("no route");
  status.become("reloading");
  const outcome = {
    trigger: "file",
    result: "rolled_back",
    durationMs: 3,
    downtimeMs: 0,
    error: ERROR,
  } as const;

  tick(1_000);
  status.reloaded(outcome);

  assert.deepEqual(status.view.lastReload, { at: "2026-01-01T00:00:01.000Z", ...outcome });
  assert.deepEqual([status.view.state, status.view.error], ["degraded", { message: "no route" }]);
});

test("the end of a reload that changed no code keeps a state that is not a reload", () => {
  const { status } = openStatus();
  status.become("failed", ERROR);

  status.reloaded({ trigger: "file", result: "failed", durationMs: 1, downtimeMs: 0 });

  assert.deepEqual([status.view.state, status.view.error], ["failed", ERROR]);
});

test("the previous version, missing consent and trials are reported when they change", () => {
  const { status, views } = openStatus();
  const history = { earlier: { version: "1.0.0", until: "2026-01-01T00:00:00Z" }, heldSince: null };
  const needed = [{ name: "hosts", value: "a.test" }, { name: "listen" }] as const;

  for (const _ of [1, 2]) status.historyChanged({ ...history });
  for (const _ of [1, 2]) status.needsConsent(needed);
  for (const _ of [1, 2]) status.setTrials(["test"]);

  assert.equal(views.length, 3);
  const { earlier, heldSince, consent, trials } = status.view;
  assert.deepEqual({ earlier, heldSince }, history);
  assert.deepEqual(consent, {
    needed: needed.map(describePermission),
    permissions: [
      { name: "hosts", value: "a.test" },
      { name: "listen", value: null },
    ],
  });
  assert.deepEqual(trials, ["test"]);
  status.needsConsent([]);
  assert.equal(status.view.consent, null);
});

test("a slow step is shown until it is over", () => {
  const { status } = openStatus();

  status.showProgress("installing packages");
  const { progress } = status.view;
  status.showProgress(undefined);

  assert.deepEqual([progress, status.view.progress], ["installing packages", null]);
});

test("added permissions are shown once the plugin has started", () => {
  const { status } = openStatus();

  status.addedPermissions(["listen"]);
  const before = status.view.permissions.added;
  status.started(plugin());

  assert.deepEqual([before, status.view.permissions.added], [[], ["listen"]]);
});

test("a fault has the message of the error and its location, if that is known", () => {
  const location = { file: "index.ts", line: 3, column: 1, frame: "" };

  assert.deepEqual(toFault(new MantelError("reload_failed", "what", { location })), {
    message: "what",
    ...location,
  });
  assert.deepEqual(toFault(new Error("what")), { message: "what" });
  assert.deepEqual(toFault("what"), { message: "what" });
});

test("a folder that is not a valid plugin is a failed module without permissions", () => {
  const error = new MantelError("invalid", "it has no package.json");

  const view = invalidPluginView("lamp", error);

  const { id, name, version, kinds, state, generation, widget: shown, limits } = view;
  assert.deepEqual([id, name, version, kinds], ["lamp", "lamp", "0.0.0", []]);
  assert.deepEqual([state, generation, shown], ["failed", 0, null]);
  assert.deepEqual(view.error, { message: "it has no package.json" });
  assert.deepEqual(limits, limitsOf({}));
  assert.deepEqual(view.confinement, {
    level: "none",
    network: "none",
    reason: "none of its code runs",
  });
});

test("limits come from the config, then the manifest, then the defaults", () => {
  const { manifest } = plugin();
  const limited = { ...manifest, limits: { memoryMiB: 128, callMs: 5_000 } };
  const config = (limits?: object) => ({ modules: { lamp: { limits } } }) as never;

  assert.deepEqual(limitsOf({}), {
    memoryMiB: 64,
    storageMiB: 256,
    cpuPercent: 80,
    startMs: 10_000,
    quiesceMs: 2_000,
    callMs: 10_000,
    queueLength: 100,
  });
  const set = configuredLimits(config({ memoryMiB: 256 }), { id: "lamp", manifest: limited });
  assert.deepEqual([set.memoryMiB, set.callMs, set.queueLength], [256, 5_000, 100]);
  assert.deepEqual(
    configuredLimits({ modules: {} } as never, { id: "lamp", manifest }),
    limitsOf({}),
  );
});

test("a view has the options to which users add things, until a version has none", () => {
  const { manifest } = plugin();
  const { status } = openStatus();

  status.describe({ ...plugin(), manifest: { ...manifest, adds: { calendar: "feeds" } } });
  const { adds } = status.view;
  status.describe(plugin("2.0.0"));

  assert.deepEqual([adds, status.view.adds], [{ calendar: "feeds" }, {}]);
});

test("a view has the title in the languages of the manifest", () => {
  const { manifest } = plugin("1.0.0", "Lamp");
  const translations = { de: { Lamp: "Lampe" }, fr: { Speed: "Vitesse" } };
  const { status } = openStatus();

  status.describe({ ...plugin(), manifest: { ...manifest, translations } });
  status.become("loading");
  const { name, titles } = status.view;
  status.describe(plugin("2.0.0", "Lamp"));

  assert.deepEqual([name, titles], ["Lamp", { de: "Lampe" }]);
  assert.equal("titles" in status.view, false);
});

test("a rest shows since when, without another generation, and ends with a start, a crash or a stop", (t) => {
  const pass = clock(t);
  const { status, views } = openStatus();
  status.started(plugin());
  const rested = () => {
    status.rests(true);
    return status.view.restingSince;
  };

  assert.equal(rested(), "2026-01-01T00:00:00.000Z");
  const seen = views.length;
  pass(1_000);
  assert.equal(rested(), "2026-01-01T00:00:00.000Z"); // it rests already
  assert.equal(views.length, seen);
  status.rests(false);
  assert.deepEqual([status.view.restingSince, status.view.generation], [null, 1]);

  for (const end of [
    () => status.started(plugin()),
    () => status.restarting({ message: "it ended" }, true),
    () => status.become("disabled"),
  ]) {
    assert.notEqual(rested(), null);
    end();
    assert.equal(status.view.restingSince, null);
  }
});
