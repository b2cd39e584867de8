import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { Type } from "typebox";
import { ConfigStore } from "../../../host/config/store.ts";
import type { Candidate } from "../../../host/modules/lifecycle/handover.ts";
import {
  homeAndServicesOf,
  isConfigured,
  NotConfigured,
  ProcessLoader,
} from "../../../host/modules/lifecycle/process-loader.ts";
import type { Exit } from "../../../host/modules/process/exit-reason.ts";
import type { WarmSettings } from "../../../host/modules/process/warm-process.ts";
import type { Build } from "../../../host/modules/versions/version.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const OPTIONS = Type.Object({ address: Type.String({ pattern: "^[a-z.]+$" }) });
const EXIT: Exit = {
  code: 7,
  signal: null,
  lastLines: [],
  isFlooding: false,
  isOutOfMemory: false,
};

/** A loader whose processes are none; `answer` is what they answer to "load". */
async function openLoader(t: TestContext, declared: Partial<Manifest> = {}, section?: object) {
  const home = await emptyFolder(t);
  const [dataFolder, folder] = [join(home, "data"), join(home, "plugins/lamp")];
  await mkdir(dataFolder);
  await mkdir(folder, { recursive: true });
  if (section) {
    await writeFile(join(dataFolder, "config.json"), JSON.stringify({ lamp: section }));
  }
  const config = await ConfigStore.open({ dataFolder, environment: {}, log: collectedLog() });
  t.after(() => config.close());
  const steps: string[] = [];
  const calls: [method: string, input: { readonly [key: string]: unknown }, deadlineMs: number][] =
    [];
  const warnings: unknown[][] = [];
  const found: unknown[] = [];
  const owners: { readonly api: Record<string, unknown> }[] = [];
  const taken: WarmSettings[] = [];
  const parts = {
    answer: (): unknown => ({ options: OPTIONS, state: undefined, trials: [] }),
    ping: (): unknown => ({ cpuMicros: 1, heapBytes: 1, loopLagP99Ms: 1 }),
    fitting: false,
    reloads: 0,
  };
  const exits: ((exit: Exit) => void)[] = [];
  const makeProcess = (inspectPort?: number) => ({
    pid: 0,
    inspectPort,
    peer: {
      call: async (method: string, input: never, deadlineMs: number) => {
        if (method === "ping") return parts.ping();
        calls.push([method, input, deadlineMs]);
        return parts.answer();
      },
      notify: () => undefined,
    },
    exited: new Promise<Exit>((resolve) => exits.push(resolve)),
    terminate: async () => {
      steps.push("ended");
      for (const exit of exits) exit(EXIT);
    },
    ownedBy: (owner: (typeof owners)[number]) => owners.push(owner),
  });
  const warmProcesses = {
    runtime: "/cache/runtime-1.cjs",
    take: (wanted: WarmSettings) => {
      taken.push(wanted);
      return makeProcess();
    },
    debuggable: (_settings: unknown, port: number) => makeProcess(port),
    warm: () => {
      steps.push("warm process");
      return parts.fitting ? undefined : makeProcess();
    },
    get reloads() {
      return parts.reloads;
    },
    whileReloading: async (reload: () => Promise<unknown>, warm: () => void) => {
      const result = await reload();
      warm();
      return result;
    },
  };
  const inspect = new Map<string, number>();
  const plugin = {
    id: "lamp",
    folder,
    version: "1.0.0",
    manifest: { id: "lamp", kinds: ["service" as const], server: "index.ts", ...declared },
  };
  const loader = new ProcessLoader({
    dataFolder,
    cacheFolder: join(dataFolder, "cache"),
    warmProcesses,
    config,
    inspect,
    apiFor: () => ({ publish: "of the module" }),
    onTrialsFound: (trials: unknown) => found.push(trials),
    printed: () => undefined,
    warn: (...warning: unknown[]) => warnings.push(warning),
  } as unknown as ConstructorParameters<typeof ProcessLoader>[0]);
  const build = (lastGoodSection?: object) =>
    ({
      plugin,
      bundle: "bundle.cjs",
      vendor: "vendor.cjs",
      hash: "h",
      section: lastGoodSection,
    }) as unknown as Build;
  // Ends the measurements of their storage.
  t.after(() => exits.forEach((exit) => exit(EXIT)));
  return {
    loader,
    parts,
    plugin,
    build,
    config,
    inspect,
    steps,
    calls,
    warnings,
    found,
    owners,
    taken,
    exits,
    dataFolder,
    folder,
    makeProcess,
    warm: warmProcesses,
  };
}

test("a build is loaded into a process with its packages, and prepared for its start", async (t) => {
  const { loader, build, calls, found, parts, dataFolder, folder, owners, taken } =
    await openLoader(
      t,
      {
        permissions: { folders: ["photos"], hosts: ["a.test"] },
        uses: ["mqtt.broker"],
      },
      { address: "a.test" },
    );
  parts.answer = () => ({ options: OPTIONS, state: undefined, trials: ["test", "evil", "setup"] });

  const candidate = await loader.load(build(), 700);

  const [[method, input, deadlineMs] = assert.fail()] = calls;
  assert.deepEqual([method, deadlineMs], ["load", 7_000]);
  assert.deepEqual(
    [input["id"], input["folder"], input["bundle"], input["vendor"], input["dataFolder"]],
    ["lamp", folder, "bundle.cjs", "vendor.cjs", dataFolder],
  );
  assert.deepEqual(
    [input["permissions"], input["network"]],
    [{ folders: ["photos"], hosts: ["a.test"] }, "proxied"],
  );
  const { settings, packages } = taken[0] ?? assert.fail();
  assert.equal(packages.id, "lamp");
  const { memoryMiB, cpuPercent, network, hosts } = settings;
  assert.deepEqual([memoryMiB, cpuPercent, network, hosts], [64, 80, "proxied", ["a.test"]]);
  const { config: options, home, uses, storage, folders, inspectPort } = candidate.request;
  assert.deepEqual(options, { address: "a.test" });
  assert.deepEqual(Object.keys(home), ["locale", "timeZone", "pollSeconds"]);
  assert.deepEqual(uses, ["mqtt.broker"]);
  assert.equal(storage, join(dataFolder, "plugins/lamp"));
  assert.deepEqual(folders, { photos: join(dataFolder, "photos") });
  assert.equal(inspectPort, undefined);
  assert.deepEqual([...(found[0] as string[])].toSorted(), ["setup", "test"]);
  assert.deepEqual(owners[0]?.api, { publish: "of the module" });
});

test("a trials value that is not a list is ignored", async (t) => {
  const { loader, build, found, parts } = await openLoader(t, {}, { address: "a.test" });
  parts.answer = () => ({ options: OPTIONS, trials: "test" });

  await loader.load(build(), 700);

  assert.deepEqual(found, [[]]);
});

test("a trial has its own calls beside those of the module, and may have another network", async (t) => {
  const { loader, build, owners, calls } = await openLoader(t, {
    permissions: { openNetwork: "setup" },
  });

  await loader.open(build(), {
    deadlineMs: 700,
    api: { showStep: "of the trial" } as never,
    isTrial: true,
  });
  await loader.open(build(), { deadlineMs: 700 });

  assert.deepEqual(owners[0]?.api, { publish: "of the module", showStep: "of the trial" });
  assert.deepEqual(
    calls.map(([, input]) => input["network"]),
    ["open", "none"],
  );
});

for (const [what, act] of [
  ["the command line", ({ inspect }) => void inspect.set("lamp", 9_229)],
  [
    "the config",
    ({ config }) => config.patch({ modules: { lamp: { inspect: 9_229 } } }, { admin: true }),
  ],
] as readonly (readonly [string, (opened: Awaited<ReturnType<typeof openLoader>>) => unknown])[]) {
  test(`a module that ${what} names for a debugger gets a process with its port`, async (t) => {
    const opened = await openLoader(t, {}, { address: "a.test" });
    await act(opened);

    const { request, generation } = await opened.loader.load(opened.build(), 700);

    assert.deepEqual([request.inspectPort, generation.inspectPort], [9_229, 9_229]);
    assert.deepEqual(opened.taken, []);
  });
}

test("invalid options stop a build, with the first fault and all of them", async (t) => {
  const { loader, build, steps } = await openLoader(t, {}, { address: "NO" });

  const failed = loader.load(build(), 700);

  await assert.rejects(failed, (error: MantelError) => {
    assert.ok(error instanceof NotConfigured);
    assert.equal(error.code, "invalid");
    assert.match(error.message, /^the config of lamp is invalid: \/lamp\/address /);
    assert.deepEqual(
      error.extras.errors?.map(({ pointer }) => pointer),
      ["/lamp/address"],
    );
    return true;
  });
  assert.deepEqual(steps, ["ended"]);
});

test("a build that worked before continues with its options if the current ones are invalid", async (t) => {
  const { loader, build, warnings } = await openLoader(t, {}, { address: "NO" });

  const { request } = await loader.load(build({ address: "b.test" }), 700);

  assert.deepEqual(request.config, { address: "b.test" });
  const [[sentence, reason] = assert.fail()] = warnings;
  assert.equal(sentence, "invalid options; keeping the previous ones");
  assert.match(String(reason), /^the config of lamp is invalid: \/lamp\/address/);
});

test("a build does not continue with options that are invalid too", async (t) => {
  const { loader, build } = await openLoader(t, {}, { address: "NO" });

  await assert.rejects(loader.load(build({ address: "NEITHER" }), 700), /\/lamp\/address/);
});

test("a build does not continue with options that were removed", async (t) => {
  const { loader, build } = await openLoader(t);

  await assert.rejects(loader.load(build({ address: "b.test" }), 700), /address is missing/);
});

test("the declarations of a plugin are known without a process, until its code, manifest or runtime changes", async (t) => {
  const { loader, build, calls, found, parts, config, warm } = await openLoader(t, {
    requiresConfig: true,
  });
  parts.answer = () => ({ options: OPTIONS, state: undefined, trials: ["test"] });
  const load = (changed: object = {}) =>
    assert.rejects(loader.load({ ...build(), ...changed }, 700), {
      message: 'not configured; set its options, or add a section "lamp" to config.json',
    });

  await load();
  await load();
  assert.equal(calls.length, 1);
  assert.deepEqual(found, [["test"], ["test"]]);
  const { faults } = config.optionsFor("lamp", OPTIONS);
  assert.deepEqual(
    faults.map(({ pointer }) => pointer),
    ["/lamp/address"],
  );

  await load({ hash: "other code" });
  const { plugin } = build();
  await load({ plugin: { ...plugin, manifest: { ...plugin.manifest, uses: ["mqtt.broker"] } } });
  warm.runtime = "/cache/runtime-2.cjs";
  await load();
  assert.equal(calls.length, 4);
});

test("a damaged declaration counts as missing, and a configured plugin is always loaded", async (t) => {
  const { loader, build, calls, parts, config, dataFolder } = await openLoader(t, {
    requiresConfig: true,
  });
  parts.answer = () => ({ options: OPTIONS, state: undefined, trials: [] });
  const file = join(dataFolder, "cache/modules/lamp/declaration.json");
  await assert.rejects(loader.load(build(), 700), NotConfigured);
  for (const damaged of ["", "{", "[]", JSON.stringify({ key: 1, declaration: { trials: [] } })]) {
    await writeFile(file, damaged);
    await assert.rejects(loader.load(build(), 700), NotConfigured);
  }
  assert.equal(calls.length, 5);

  await config.patch({ lamp: { address: "a.test" } }, { admin: true });
  await loader.load(build(), 700);
  assert.equal(calls.length, 6);
});

test("an opt-in plugin without a section is not configured", async (t) => {
  const { loader, build } = await openLoader(t, { requiresConfig: true });

  await assert.rejects(loader.load(build(), 700), (error: MantelError) => {
    assert.ok(error instanceof NotConfigured);
    assert.equal(
      error.message,
      'not configured; set its options, or add a section "lamp" to config.json',
    );
    return true;
  });
});

test("an opt-in plugin that names keys of the config is configured when all of them are set", async (t) => {
  const keys = ["home.latitude", "home.place"];
  const { plugin, config } = await openLoader(t, { requiresConfig: keys });

  const configured = [isConfigured(plugin, config)];
  await config.patch({ home: { latitude: 48 } }, { admin: true });
  configured.push(isConfigured(plugin, config));
  await config.patch({ home: { place: "Freiburg" } }, { admin: true });
  configured.push(isConfigured(plugin, config));

  assert.deepEqual(configured, [false, false, true]);
});

test("an opt-in plugin is configured by a section or by being enabled", async (t) => {
  const { plugin, config } = await openLoader(t, { requiresConfig: true });
  const plain = { ...plugin, manifest: { ...plugin.manifest, requiresConfig: false } };
  const withSection = await openLoader(t, { requiresConfig: true }, { address: "a.test" });

  const before = [isConfigured(plugin, config), isConfigured(plain, config)];
  await config.patch({ modules: { lamp: { enabled: true } } }, { admin: true });
  const enabled = isConfigured(plugin, config);
  await config.patch({ modules: { lamp: { enabled: false } } }, { admin: true });

  assert.deepEqual([before, enabled], [[false, true], true]);
  assert.equal(isConfigured(plugin, config), false);
  assert.equal(isConfigured(withSection.plugin, withSection.config), true);
  assert.deepEqual(homeAndServicesOf(plain, config).uses, []);
});

test("a state fits if the code declares a schema for it and it has no fault", async (t) => {
  const { loader, warnings } = await openLoader(t);
  const fits = (state: unknown, schema?: object) =>
    loader.fits(state, { loaded: { state: schema } } as unknown as Candidate);
  const schema = Type.Object({ count: Type.Integer() });

  assert.equal(fits({ count: 1 }), false);
  assert.equal(fits({ count: 1 }, schema), true);
  assert.equal(warnings.length, 0);
  assert.equal(fits({ count: "x" }, schema), false);
  const [[sentence, reason] = assert.fail()] = warnings;
  assert.equal(sentence, "the handed-over state does not fit the new code; starting without it");
  assert.match(String(reason), /^\/count is "x"/);
});

const late = new MantelError("deadline_passed", "start timed out after 700 ms");

const FAULTS = [{ pointer: "/a", detail: "is wrong" }];
const FAILURES: readonly (readonly [
  what: string,
  error: unknown,
  told: string,
  faults?: object,
])[] = [
  [
    "an error of the code keeps its text",
    new RemoteFault({ name: "TypeError", message: "what", stack: "" }),
    "TypeError: what",
  ],
  [
    "a late start gets a hint",
    late,
    'start timed out after 700 ms: do slow work after the start, or raise "limits.startMs"',
  ],
  [
    "a failure that is explained already stays as it is",
    new MantelError("reload_failed", "explained"),
    "explained",
  ],
  ["a value that is not an error becomes text", "what", "what"],
  [
    "an expected failure keeps its faults",
    new MantelError("invalid", "what", { errors: FAULTS }),
    "what",
    FAULTS,
  ],
];

for (const [what, error, told, faults] of FAILURES) {
  test(`${what}, and its process ends`, async (t) => {
    const { loader, build, steps, makeProcess } = await openLoader(t);

    const { code, message, extras } = await loader.explain(error, {
      generation: makeProcess() as never,
      build: build(),
    });

    assert.deepEqual([code, message, extras.errors], ["reload_failed", told, faults]);
    assert.deepEqual(steps, ["ended"]);
  });
}

test("the error for a slow start includes what the liveness check found", async (t) => {
  const { loader, build, makeProcess, parts } = await openLoader(t);
  parts.ping = () => ({ cpuMicros: Number.NaN });

  const { message } = await loader.explain(late, {
    generation: makeProcess() as never,
    build: build(),
  });

  assert.equal(message, "start timed out after 700 ms: it sent invalid usage figures");
});

test("if the process exits while starting, the error has its exit reason and source location", async (t) => {
  const { loader, build, makeProcess, exits, folder } = await openLoader(t);
  await writeFile(join(folder, "index.ts"), "one\ntwo\n");
  const generation = makeProcess() as never;
  const lastLines = ["Error: what", `    at start (${join(folder, "index.ts")}:2:1)`];
  exits.at(-1)?.({ ...EXIT, code: 1, lastLines });

  const error = await loader.explain(new Error("the call failed"), { generation, build: build() });

  assert.match(error.message, /an uncaught error: Error: what/);
  assert.deepEqual([error.extras.location?.file, error.extras.location?.line], ["index.ts", 2]);
});

test("an error of the code has its place in the author's folder", async (t) => {
  const { loader, build, makeProcess, folder } = await openLoader(t);
  await writeFile(join(folder, "index.ts"), "one\ntwo\n");
  const stack = `TypeError: what\n    at start (${join(folder, "index.ts")}:2:1)`;

  const { extras } = await loader.explain(
    new RemoteFault({ name: "TypeError", message: "what", stack }),
    { generation: makeProcess() as never, build: build() },
  );

  assert.deepEqual([extras.location?.file, extras.location?.line], ["index.ts", 2]);
});

test("the error for a wrong default export points at the line of the export", async (t) => {
  const { loader, build, parts, folder } = await openLoader(t);
  await writeFile(join(folder, "index.ts"), "\nexport default 5;\n");
  const why = "the default export is not a plugin";
  parts.answer = () => {
    throw new RemoteFault({ name: "TypeError", message: why, stack: "" });
  };

  await assert.rejects(loader.open(build(), { deadlineMs: 700 }), ({ extras }: MantelError) => {
    assert.deepEqual([extras.location?.file, extras.location?.line], ["index.ts", 2]);
    return true;
  });
});

test("code whose state schema could take too long to check is rejected", async (t) => {
  const { loader, build, parts } = await openLoader(t, {}, { address: "a.test" });
  const state = Type.String({ pattern: "^(a+)+$" });
  parts.answer = () => ({ options: OPTIONS, state, trials: [] });

  await assert.rejects(loader.load(build(), 700), { code: "reload_failed" });
});

test("a warm process is started for the plugin that was loaded last, and belongs to it", async (t) => {
  const { loader, build, steps, owners, parts } = await openLoader(t);
  loader.warm();
  assert.deepEqual(steps, [], "nothing was loaded yet");
  await loader.open(build(), { deadlineMs: 700 });

  loader.warm();
  assert.deepEqual([steps, owners.length], [["warm process"], 2]);
  parts.fitting = true;
  loader.warm();
  assert.equal(owners.length, 2, "one that fits belongs to it already");
});

test("a warm process starts early only if no other reload runs", async (t) => {
  const { loader, build, steps, parts } = await openLoader(t);
  await loader.open(build(), { deadlineMs: 700 });

  parts.reloads = 2;
  loader.warmEarly();
  assert.deepEqual(steps, []);
  parts.reloads = 1;
  loader.warmEarly();

  assert.deepEqual(steps, ["warm process"]);
});

test("a reload ends with the start of a warm process", async (t) => {
  const { loader, build, steps } = await openLoader(t);
  await loader.open(build(), { deadlineMs: 700 });

  const result = await loader.whileReloading(async () => "done");

  assert.deepEqual([result, steps], ["done", ["warm process"]]);
});

test("a plugin without options starts without a section", async (t) => {
  const { loader, build, parts } = await openLoader(t);
  parts.answer = () => ({ options: undefined, state: undefined, trials: [] });

  const { request } = await loader.load(build(), 700);

  assert.deepEqual(request.config, {});
});
