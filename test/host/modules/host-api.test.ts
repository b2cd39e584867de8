import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cause } from "@mantel/plugin-sdk/cause";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { ChannelFollower } from "../../../host/channels/follower.ts";
import { ChannelRegistry } from "../../../host/channels/registry.ts";
import { Discovery } from "../../../host/discovery/discovery.ts";
import type { Asked } from "../../../host/discovery/mdns.ts";
import { Bus } from "../../../host/events/bus.ts";
import { type HostDependencies, hostApi } from "../../../host/modules/calls/host-api.ts";
import { ProvidedServices } from "../../../host/modules/calls/provided-services.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { ApiPaths } from "../../../host/routes/api-paths.ts";
import { ServiceRegistry } from "../../../host/services/registry.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

const manifest = (declared: Partial<Manifest> = {}): Manifest => ({
  id: "lamp",
  kinds: ["service"],
  server: "index.ts",
  ...declared,
});
const definitions = () => [];
const BRIDGE = { bridge: { kind: "lamp", commandsPerSecond: 1 } };
const plugin = (declared: Partial<Manifest> = {}) => ({
  id: "lamp",
  folder: "/lamp",
  version: "1.0.0",
  manifest: manifest(declared),
});
const WINDOW = { start: "2026-01-01T00:00:00Z", end: "2027-01-01T00:00:00Z", sources: [] };

/** Registries that tell what they were given. */
function openHost() {
  const taken: unknown[] = [];
  const parts = { failure: undefined as Error | undefined };
  const take = (what: string) => async (id: string, value: unknown) => {
    if (parts.failure) throw parts.failure;
    taken.push([what, id, value]);
  };
  const publication = (name: string) => ({
    accept: (value: unknown) => taken.push([name, value]),
    gone: () => taken.push([name, "gone"]),
  });
  const services = new ServiceRegistry();
  const channels = new ChannelRegistry({ bus: new Bus(), paths: new ApiPaths() });
  const searched = async ({ what, forMs }: Asked) => {
    taken.push(["search", what, forMs]);
    return [];
  };
  const registries = {
    devices: {
      publish: take("devices"),
      update: take("updates"),
      announceEvent: take("event"),
      removeBridge: (id: string) => taken.push(["devices removed", id]),
    },
    scenes: {
      publish: take("scenes"),
      removeBridge: (id: string) => taken.push(["scenes removed", id]),
    },
    services,
    channels,
    home: {},
    discovery: new Discovery({ mdns: searched, ssdp: searched }),
    publications: {
      "calendar.window": publication("calendar.window"),
    },
  } as unknown as HostDependencies;
  const delivered: unknown[] = [];
  const follower = new ChannelFollower(channels, async (change) => void delivered.push(change));
  return { taken, parts, services, channels, follower, delivered, registries };
}

function openApi(declared: Partial<Manifest> = {}, isLive = true) {
  const host = openHost();
  const log = collectedLog();
  const reasons: (string | undefined)[] = [];
  const api = hostApi(
    {
      id: "lamp",
      manifest: manifest(declared),
      log: new ModuleLog(log),
      isLive: () => isLive,
      degraded: (reason) => reasons.push(reason),
      follower: () => host.follower,
      sendChanges: () => Promise.resolve(),
      runSchedule: () => Promise.resolve(),
      sendSource: () => Promise.resolve(),
      exited: new Promise(() => undefined),
    },
    host.registries,
  );
  /** The outcome of a call as its process gets it. */
  const call = async (name: keyof typeof api, ...input: unknown[]) =>
    (api[name] as (...input: unknown[]) => unknown)(...input);
  return { ...host, call, log, reasons };
}

const REFUSED: readonly (readonly [name: string, input: unknown, what: string, key: string])[] = [
  ["publishDevices", [], "publish devices or scenes", '"bridge" with its "kind"'],
  ["publishScenes", [], "publish devices or scenes", '"bridge" with its "kind"'],
  [
    "publish",
    { name: "calendar.window", value: {} },
    "publish calendar.window",
    '"provides": ["calendar.window"]',
  ],
  [
    "publish",
    { name: "constructor", value: {} },
    "publish constructor",
    '"provides": ["constructor"]',
  ],
  ["publishCalendarPart", {}, "publish calendar.window", '"provides": ["calendar.window"]'],
  ["callService", { name: "mqtt.broker" }, "call mqtt.broker", '"uses": ["mqtt.broker"]'],
];

for (const [name, input, what, key] of REFUSED) {
  test(`${name} to ${what} is refused without its declaration, which is named`, async () => {
    const { call, taken } = openApi();

    await assert.rejects(call(name as never, input), {
      code: "invalid",
      message: `lamp may not ${what}: its manifest does not declare it; add ${key} to "mantel" in its package.json`,
    });

    assert.deepEqual(taken, []);
  });
}

test("a declared service is still refused if it is not a publication", async () => {
  const { call } = openApi({ provides: ["mqtt.publish"] });

  await assert.rejects(call("publish", { name: "mqtt.publish", value: {} }), /may not publish/);
});

test("a bridge publishes its devices and scenes, and their changes and events", async () => {
  const { call, taken } = openApi(BRIDGE);

  await call("publishDevices", ["a"]);
  await call("updateDevices", ["b"]);
  await call("announceDeviceEvent", "c");
  await call("publishScenes", ["d"]);

  assert.deepEqual(taken, [
    ["devices", "lamp", ["a"]],
    ["updates", "lamp", ["b"]],
    ["event", "lamp", "c"],
    ["scenes", "lamp", ["d"]],
  ]);
});

const UNANSWERED = [
  ["updateDevices", "refused an update of devices"],
  ["announceDeviceEvent", "refused an event of a device"],
] as const;

for (const [name, sentence] of UNANSWERED) {
  test(`${name} that is refused is in the plugin's log, because it has no answer`, async () => {
    const { call, parts, log } = openApi(BRIDGE);
    parts.failure = new MantelError("invalid", "what");

    await call(name, []);

    assert.deepEqual(
      log.records.map(({ level, sentence: told, fields }) => [level, told, fields]),
      [["warn", sentence, { count: 1, error: "what" }]],
    );
  });

  test(`${name} of a plugin that is not a bridge is refused in its log`, async () => {
    const { call, log, taken } = openApi();

    await call(name, []);

    assert.deepEqual(taken, []);
    assert.match(String(log.records[0]?.fields["error"]), /lamp may not publish devices/);
  });
}

const OF_ENDED = [
  ["publishDevices", []],
  ["updateDevices", []],
  ["announceDeviceEvent", {}],
  ["publishScenes", []],
  ["publish", { name: "calendar.window", value: {} }],
  ["publishChannel", { channel: "headlines", json: "1" }],
  ["publishCalendarPart", {}],
  ["reportDegraded", { reason: "what" }],
] as const;

for (const [name, input] of OF_ENDED) {
  test(`${name} of a generation that has ended is refused and changes nothing`, async () => {
    const provides = ["calendar.window" as const];
    const { call, taken, reasons } = openApi({ ...BRIDGE, provides }, false);

    await assert.rejects(call(name, input), {
      code: "module_down",
      message: "this generation of lamp has ended",
    });

    assert.deepEqual([taken, reasons], [[], []]);
  });
}

test("a published value is checked by the schema of its name", async () => {
  const { call, taken } = openApi({ provides: ["calendar.window"] });

  await assert.rejects(call("publish", { name: "calendar.window", value: { wrong: 1 } }), {
    code: "invalid",
    message: /^calendar\.window of lamp is invalid/,
  });

  assert.deepEqual(taken, []);
});

test("a calendar window is assembled from its parts", async () => {
  const { call, taken } = openApi({ provides: ["calendar.window"] });

  await call("publishCalendarPart", { hash: "1", events: [] });
  await call("publish", { name: "calendar.window", value: { ...WINDOW, parts: ["1"] } });
  await assert.rejects(
    call("publish", { name: "calendar.window", value: { ...WINDOW, parts: ["2"] } }),
    /calendar\.window of lamp names a part that was not sent/,
  );

  assert.deepEqual(taken, [["calendar.window", { ...WINDOW, events: [] }]]);
});

test("a declared service is called with its input", async () => {
  const { call, services } = openApi({ uses: ["mqtt.broker"] });
  services.claim({
    id: "broker",
    provides: ["mqtt.broker"],
    definitions,
    callService: async (given) => given,
  });

  const chain = ["acme.news.items"];
  assert.deepEqual(await call("callService", { name: "mqtt.broker", input: 1, chain }), {
    key: "mqtt.broker",
    input: 1,
    chain,
  });
});

test("a call of a shared service names the calling plugin", async () => {
  const { call, services } = openApi({ uses: ["home.notify"], title: "Washing" });
  services.merge("home.notify", async (_, cause) => cause);

  const { at, ...cause } = (await call("callService", { name: "home.notify", input: {} })) as Cause;

  assert.deepEqual(cause, { kind: "module", id: "lamp", name: "Washing" });
  assert.ok(!Number.isNaN(Date.parse(at ?? "")));
});

test("of several declared services each may be called, and no other", async () => {
  const { call, services } = openApi({ uses: ["mqtt.broker", "broker.address"] });
  const provides = ["mqtt.broker", "broker.address", "mqtt.publish"];
  services.claim({ id: "broker", provides, definitions, callService: async ({ key }) => key });

  assert.equal(await call("callService", { name: "mqtt.broker" }), "mqtt.broker");
  assert.equal(await call("callService", { name: "broker.address" }), "broker.address");
  await assert.rejects(call("callService", { name: "mqtt.publish" }), /may not call mqtt\.publish/);
});

const PROVIDER_ERRORS: readonly (readonly [what: string, error: Error, told: object])[] = [
  [
    "an error in the provider's code reaches a caller without its text",
    new RemoteFault({ name: "TypeError", message: "the key is 1234" }),
    {
      code: "service_unavailable",
      message: "mqtt.broker of broker failed; see the log of broker",
    },
  ],
  [
    "an expected failure of a provider reaches a caller as it is",
    new MantelError("broker_down", "nobody is there"),
    { code: "broker_down", message: "nobody is there" },
  ],
];

for (const [what, error, told] of PROVIDER_ERRORS) {
  test(what, async () => {
    const { call, services } = openApi({ uses: ["mqtt.broker"] });
    const callService = () => Promise.reject(error);
    services.claim({ id: "broker", provides: ["mqtt.broker"], definitions, callService });

    await assert.rejects(call("callService", { name: "mqtt.broker" }), told);
  });
}

test("the reason of a degraded module is cut to 500 characters, and can be taken back", async () => {
  const { call, reasons } = openApi();

  await call("reportDegraded", { reason: "x".repeat(501) });
  await call("reportDegraded", { reason: 5 });
  await call("reportDegraded", {});

  assert.deepEqual(reasons, ["x".repeat(500), "5", undefined]);
});

test("a setup step without a setup is refused", async () => {
  const { call } = openApi();

  await assert.rejects(call("showStep", {}), {
    code: "invalid",
    message: "lamp sent a setup step, but no setup of it is running",
  });
});

test("a record goes to the plugin's log", async () => {
  const { call, log } = openApi();

  await call("log", { level: "info", sentence: "it works" });

  assert.equal(log.records[0]?.sentence, "it works");
});

function openProvided(declared: Partial<Manifest> = {}) {
  const host = openHost();
  const now = plugin(declared);
  const callService = async () => "answer";
  const provided = new ProvidedServices({ id: "lamp", definitions, callService }, host.registries);
  return { ...host, provided, now };
}
const OTHER = {
  id: "other",
  provides: ["mqtt.broker"],
  definitions,
  callService: async () => "other",
};

test("a claimed service is called at the module that provides it, until it is released", async () => {
  const { provided, services, now } = openProvided({ provides: ["mqtt.broker"] });

  provided.claim(now);
  assert.equal(await services.call("mqtt.broker", {}), "answer");
  provided.release();

  assert.equal(services.findProvider("mqtt.broker"), undefined);
});

test("a plugin can claim names that no other module holds", () => {
  const { provided, services, now } = openProvided({ provides: ["mqtt.broker"] });

  const free = provided.canClaim(now);
  services.claim(OTHER);

  assert.deepEqual(
    [free, provided.canClaim(now), provided.canClaim(plugin())],
    [true, false, true],
  );
  assert.throws(() => provided.claim(now), /other already provides/);
  provided.claim(plugin());
});

test("the names of the next plugin are claimed while it starts", async () => {
  const { provided, services, now } = openProvided({ provides: ["mqtt.broker"] });
  provided.claim(now);
  const next = plugin({ provides: ["broker.address"] });

  const result = await provided.during(next, now, () => services.findProvider("broker.address"));

  assert.equal(result, "lamp");
  assert.equal(services.findProvider("mqtt.broker"), undefined);
});

test("the names of the running plugin are claimed again if the next one does not start", async () => {
  const { provided, services, now } = openProvided({ provides: ["mqtt.broker"] });
  provided.claim(now);

  const failing = provided.during(plugin(), now, () => Promise.reject(new Error("wrong code")));

  await assert.rejects(failing, /wrong code/);
  assert.equal(services.findProvider("mqtt.broker"), "lamp");
});

test("a value that the next plugin no longer publishes is withdrawn", () => {
  const { provided, services, now, taken } = openProvided({
    provides: ["mqtt.broker", "calendar.window", "calendar.events"],
  });
  provided.claim(now);

  provided.replace(now, plugin({ provides: ["calendar.events"] }));

  assert.deepEqual(taken, [["calendar.window", "gone"]]);
  assert.equal(services.findProvider("calendar.window"), undefined);
  assert.equal(services.findProvider("calendar.events"), "lamp");
});

test("a stopped module withdraws its services, values, devices and scenes", () => {
  const { provided, services, now, taken } = openProvided({
    provides: ["mqtt.broker", "calendar.window"],
  });
  provided.claim(now);

  provided.retract(now);

  assert.equal(services.findProvider("mqtt.broker"), undefined);
  assert.deepEqual(taken, [
    ["devices removed", "lamp"],
    ["scenes removed", "lamp"],
    ["calendar.window", "gone"],
  ]);
});

test("a module that provides nothing withdraws only its devices and scenes", () => {
  const { provided, now, taken } = openProvided();
  provided.claim(now);

  provided.replace(now, plugin());
  provided.retract(now);

  assert.deepEqual(taken, [
    ["devices removed", "lamp"],
    ["scenes removed", "lamp"],
  ]);
});

for (const entry of ["network:local", "*"]) {
  test(`a plugin with ${entry} may search the network`, async () => {
    const { call, taken } = openApi({ permissions: { hosts: [entry] } });

    await call("discoverMdns", { what: "_hue._tcp", forMs: 200 });
    await call("discoverSsdp", { what: "ssdp:all" });

    assert.deepEqual(taken, [
      ["search", "_hue._tcp", 200],
      ["search", "ssdp:all", 3_000],
    ]);
  });
}

test("a search of the network without the permission names the line to add", async () => {
  const { call, taken } = openApi({ permissions: { hosts: ["192.168.1.2"] } });

  await assert.rejects(
    call("discoverMdns", { what: "_hue._tcp" }),
    /may not search the network: .+ add "permissions": \{"hosts": \["network:local"\]\}/,
  );
  assert.deepEqual(taken, []);
});
