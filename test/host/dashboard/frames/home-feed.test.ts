import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { type Signal, signal } from "@preact/signals-core";
import type { Frame } from "../../../../host/dashboard/frames/frame.ts";
import { HomeFeed } from "../../../../host/dashboard/frames/home-feed.ts";
import type { ToFrame } from "../../../../host/dashboard/frames/to-frame.ts";
import type { WidgetContexts } from "../../../../host/dashboard/widget-context.ts";
import { deviceOf } from "../../../helpers/device.ts";
import { until } from "../../../helpers/until.ts";

type Needs = ConstructorParameters<typeof HomeFeed>[1]["needs"];

const lamp = deviceOf({ kind: "light", room: "Kitchen" });
const lock = deviceOf({ kind: "lock", room: "Hall" });
const lit: Device = { ...lamp, state: { ...lamp.state, on: true } };
const ALL: Needs = {
  devices: ["read", "command"],
  scenes: true,
  channels: ["weather/forecast", "modules"],
  reads: ["/photos"],
} as never;

/** A home, and a widget in a frame that notes what it is sent. */
function openFeed(needs: Needs = ALL) {
  const devices = signal<readonly Device[]>([lamp, lock]);
  const channels = new Map<string, Signal<unknown>>();
  const channel = (name: string) => {
    const known = channels.get(name) ?? signal<unknown>(name === "modules" ? [] : null);
    channels.set(name, known);
    return known;
  };
  const sent: ToFrame[] = [];
  const transfers: unknown[] = [];
  const asked: unknown[] = [];
  const parts = {
    command: async (): Promise<unknown> => ({ ok: true }),
    read: async (_path: string, _signal: AbortSignal): Promise<Response> =>
      new Response("picture", { headers: { "content-type": "image/png" } }),
  };
  const contexts = {
    allDevices: devices,
    read: (path: string, signalOfRead: AbortSignal) => {
      asked.push(`reads ${path}`);
      return parts.read(path, signalOfRead);
    },
    channel,
    shared: {
      command: (id: string, command: object) => {
        asked.push([id, command]);
        return parts.command();
      },
      scene: async (id: string) => {
        asked.push(`scene ${id}`);
        return { ok: true };
      },
      commandRoom: async (room: string, kind: string, command: object) => {
        asked.push([room, kind, command]);
        return { ok: true };
      },
      call: async (service: object, input: unknown) => {
        asked.push([service, input]);
        if (input === "bad") throw Object.assign(new Error("no feed"), { code: "feed_unknown" });
        return ["Rain"];
      },
      announce: (text: string) => void asked.push(`says ${text}`),
    },
    openDetails: (target: object, box: object) => void asked.push([target, box]),
  } as unknown as WidgetContexts;
  const frame = {
    send: (message: ToFrame, transferred?: unknown[]) => {
      sent.push(message);
      if (transferred) transfers.push(...transferred);
    },
    inWindow: ({
      x,
      y,
      width,
      height,
    }: {
      x: number;
      y: number;
      width: number;
      height: number;
    }) => ({
      x: x + 100,
      y: y + 200,
      width,
      height,
    }),
  } as unknown as Frame;
  const feed = new HomeFeed(frame, { needs, contexts, module: "news-widget" });
  /** Sends what the widget asks for, and gives what it is sent for that. */
  const ask = async (message: object): Promise<ToFrame[]> => {
    const before = sent.length;
    feed.receive(message as never);
    for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
    return sent.slice(before);
  };
  const answerTo = async (message: object): Promise<Record<string, unknown>> => {
    const [reply] = await ask({ call: 7, ...message });
    assert.ok(reply?.kind === "answer" && reply.call === 7, JSON.stringify(reply));
    return reply.answer as unknown as Record<string, unknown>;
  };
  return { feed, devices, channel, sent, transfers, asked, parts, ask, answerTo };
}

test("a widget is first given the devices and channels that it declares", () => {
  const { feed, channel } = openFeed({
    devices: ["read"],
    kinds: ["light"],
    channels: ["weather/forecast"],
  } as never);
  channel("weather/forecast").value = { days: 3 };

  const { devices, channels } = feed.first();

  assert.deepEqual(devices, [lamp]);
  assert.deepEqual(channels, { "weather/forecast": { days: 3 } });
});

test("a widget without needs is given nothing", () => {
  const { feed, devices, sent } = openFeed({});

  const { devices: seen, channels } = feed.first();
  feed.start();
  devices.value = [lit, lock];

  assert.deepEqual([seen, channels, sent], [[], {}, []]);
});

test("details of a device that the widget sees open at its place in the window, a few at a time", async () => {
  const { ask, asked } = openFeed({ devices: ["read"], kinds: ["light"] });
  const box = { x: 1, y: 2, width: 30, height: 40 };
  const details = (device: string) => ask({ kind: "details", target: { device }, box });

  await details(lock.id);
  await details(lamp.id);
  await ask({ kind: "details", target: { room: "Kitchen" }, box }); // it may not command lights
  for (let more = 0; more < 10; more++) await details(lamp.id);

  assert.deepEqual(asked[0], [{ device: lamp.id }, { x: 101, y: 202, width: 30, height: 40 }]);
  assert.equal(asked.length, 3);
});

test("a command to a room is answered, and refused if the widget may not command all of it", async () => {
  const { answerTo, asked } = openFeed();
  const narrow = openFeed({ devices: ["read", "command"], kinds: ["plug"] });
  const message = { kind: "commandRoom", room: "Hall", device: "light", command: { on: false } };

  assert.deepEqual(await answerTo(message), { ok: true });
  const refused = await narrow.answerTo(message);

  assert.deepEqual(asked, [["Hall", "light", { on: false }]]);
  assert.equal((refused["error"] as { code: string }).code, "forbidden");
  assert.deepEqual(narrow.asked, []);
});

test("modules are shown to a widget without the fields that are not for it", () => {
  const { feed, channel } = openFeed();
  const status = {
    id: "hue",
    name: "Hue",
    version: "1.0.0",
    state: "active",
    generation: 2,
    restarts: 0,
    resources: { cpuPercent: 1 },
    progress: null,
    error: null,
  };
  channel("modules").value = [{ ...status, secret: "settings" }];

  assert.deepEqual(feed.first().channels["modules"], [status]);
});

test("a device that changes is sent alone, and all devices if the set changes", () => {
  const { feed, devices, sent } = openFeed();
  feed.first();
  feed.start();
  const first = sent.splice(0);

  devices.value = [lit, lock];
  const changed = sent.splice(0);
  devices.value = [lit];
  const removed = sent.splice(0);
  devices.value = [lock];
  const replaced = sent.splice(0);

  assert.ok(
    first.every(({ kind }) => kind === "channel"),
    "nothing has changed since the first paint",
  );
  assert.deepEqual(changed, [{ kind: "device", device: lit }]);
  assert.deepEqual(removed, [{ kind: "devices", all: [lit] }]);
  assert.deepEqual(replaced, [{ kind: "devices", all: [lock] }]);
});

test("a channel is sent when its value changes, until the feed ends", () => {
  const { feed, channel, devices, sent } = openFeed({ channels: ["weather/forecast"] });
  feed.first();
  const stop = feed.start();
  const before = [...sent];

  channel("weather/forecast").value = { days: 3 };
  stop();
  channel("weather/forecast").value = { days: 4 };
  devices.value = [];

  assert.deepEqual(before, []);
  assert.deepEqual(sent, [{ kind: "channel", name: "weather/forecast", value: { days: 3 } }]);
});

test("a command and a scene are passed on, and answered with their result", async () => {
  const { answerTo, asked } = openFeed();

  const answers = [
    await answerTo({ kind: "command", device: lamp.id, command: { on: true } }),
    await answerTo({ kind: "scene", scene: "hue:dusk" }),
  ];

  assert.deepEqual(answers, [{ ok: true }, { ok: true }]);
  assert.deepEqual(asked, [[lamp.id, { on: true }], "scene hue:dusk"]);
});

const ITEMS = { kind: "service", name: "acme.news.items", version: 2 };

test("a declared service is called, and its result or its own error is the answer", async () => {
  const { answerTo, asked } = openFeed({ services: ["acme.news.items@2"] });

  const result = await answerTo({ ...ITEMS, input: { feed: "world" } });
  const refused = await answerTo({ ...ITEMS, input: "bad" });

  assert.deepEqual(result, { result: ["Rain"] });
  assert.deepEqual(refused, { error: { code: "feed_unknown", message: "no feed" } });
  assert.deepEqual(asked[0], [
    { name: "acme.news.items", version: 2, input: {} },
    { feed: "world" },
  ]);
});

test("a service that the widget does not declare is refused with the line to add", async () => {
  const { answerTo, asked } = openFeed({ services: ["acme.news.items"] });

  const { error } = await answerTo({ ...ITEMS, input: {} });

  const { code, message } = error as { code: string; message: string };
  assert.equal(code, "forbidden");
  assert.match(message, /"needs": \{"services":\["acme\.news\.items@2"\]\}/);
  assert.deepEqual(asked, []);
});

test("a command to a device that the widget does not see is refused", async () => {
  const { answerTo, asked } = openFeed({ devices: ["read", "command"], kinds: ["lock"] } as never);

  const refused = await answerTo({ kind: "command", device: lamp.id, command: {} });
  const passed = await answerTo({ kind: "command", device: lock.id, command: {} });

  assert.equal((refused["error"] as { code: string }).code, "forbidden");
  assert.deepEqual([passed, asked], [{ ok: true }, [[lock.id, {}]]]);
});

test("requests that a widget does not declare are refused, and nothing is passed on", async () => {
  const { answerTo, asked, transfers } = openFeed({ devices: ["read"] });

  const command = await answerTo({ kind: "command", device: lamp.id, command: { on: true } });
  const scene = await answerTo({ kind: "scene", scene: "hue:dusk" });
  const read = await answerTo({ kind: "read", path: "/photos" });

  for (const refused of [command, scene]) {
    assert.equal(refused["ok"], false);
    assert.equal((refused["error"] as { code: string }).code, "forbidden");
  }
  assert.match((command["error"] as { message: string }).message, /"needs"/);
  assert.match(String(read["error"]), /"needs": \{"reads":\["\/photos"\]\}/);
  assert.deepEqual([asked, transfers], [[], []]);
});

for (const [what, failure, error] of [
  [
    "an error with a code",
    Object.assign(new Error("away"), { code: "bridge_down" }),
    { code: "bridge_down", message: "away" },
  ],
  ["an error without a code", new Error("away"), { code: "internal", message: "away" }],
] as const) {
  test(`a command that fails with ${what} is answered with a refusal`, async () => {
    const { answerTo, parts } = openFeed();
    parts.command = async () => {
      throw failure;
    };

    const answer = await answerTo({ kind: "command", device: lamp.id, command: {} });

    assert.deepEqual(answer, { ok: false, error });
  });
}

for (const [what, message, most] of [
  ["commands", { kind: "command", device: lamp.id, command: {} }, 300],
  ["scenes", { kind: "scene", scene: "dusk" }, 10],
  ["documents", { kind: "read", path: "/photos" }, 30],
] as const) {
  test(`a widget may send ${most} ${what} at once, and no more`, async (t) => {
    t.mock.method(performance, "now", () => 1_000);
    const { answerTo, asked } = openFeed();

    for (let count = 0; count < most; count++) await answerTo(message);
    const refused = await answerTo(message);

    assert.equal(asked.length, most);
    assert.match(JSON.stringify(refused), new RegExp(what));
  });
}

test("a document is given to the widget with its type, without a copy", async () => {
  const { answerTo, transfers, asked } = openFeed();

  const { type, body } = await answerTo({ kind: "read", path: "/photos" });

  assert.equal(type, "image/png");
  assert.equal(Buffer.from(body as ArrayBuffer).toString(), "picture");
  assert.deepEqual(transfers, [body]);
  assert.deepEqual(asked, ["reads /photos"]);
});

test("a document without a type has an empty one", async () => {
  const { answerTo, parts } = openFeed();
  parts.read = async () => new Response(new Uint8Array([1]));

  assert.equal((await answerTo({ kind: "read", path: "/photos" }))["type"], "");
});

const MIB = 1_024 * 1_024;
for (const [what, response, isRefused] of [
  ["of 32 MiB", () => new Response(new Uint8Array(32 * MIB)), false],
  ["of more than 32 MiB", () => new Response(new Uint8Array(32 * MIB + 1)), true],
  [
    "that is announced with more than 32 MiB",
    () => new Response("", { headers: { "content-length": String(32 * MIB + 1) } }),
    true,
  ],
] as const) {
  test(`a document ${what} is ${isRefused ? "refused" : "given"}`, async () => {
    const { answerTo, parts } = openFeed();
    parts.read = async () => response();

    const { error } = await answerTo({ kind: "read", path: "/photos" });

    assert.equal(error, isRefused ? "the document is too large" : undefined);
  });
}

test("a widget reads six documents at once, and each that ends makes room", async () => {
  const { ask, answerTo, parts } = openFeed();
  const ends: (() => void)[] = [];
  parts.read = () => new Promise((done) => ends.push(() => done(new Response(""))));
  for (let call = 1; call <= 6; call++) await ask({ kind: "read", call, path: "/photos" });

  const refused = await answerTo({ kind: "read", path: "/photos" });
  ends[0]?.();
  await new Promise((done) => setImmediate(done));
  await ask({ kind: "read", call: 8, path: "/photos" });

  assert.equal(refused["error"], "the widget reads too much at once");
  assert.equal(ends.length, 7);
});

test("a read ends when the widget cancels it, and all reads end with the feed", async () => {
  const { feed, ask, parts } = openFeed();
  const signals: AbortSignal[] = [];
  parts.read = (_path, signalOfRead) => {
    signals.push(signalOfRead);
    return new Promise((_done, reject) =>
      signalOfRead.addEventListener("abort", () => reject(new Error("it was cancelled"))),
    );
  };
  const stop = feed.start();
  await ask({ kind: "read", call: 1, path: "/photos" });
  await ask({ kind: "read", call: 2, path: "/photos" });

  const answers = await ask({ kind: "cancel", call: 1 });
  await ask({ kind: "cancel", call: 99 });
  const cancelled = signals.map(({ aborted }) => aborted);
  stop();

  assert.deepEqual(answers, [{ kind: "answer", call: 1, answer: { error: "it was cancelled" } }]);
  assert.deepEqual(cancelled, [true, false]);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
});

test("a widget may make five announcements at once; more are not spoken", async (t) => {
  t.mock.method(performance, "now", () => 1_000);
  const { ask, asked } = openFeed();

  for (let count = 1; count <= 7; count++) await ask({ kind: "announce", text: `${count}` });

  assert.deepEqual(asked, ["says 1", "says 2", "says 3", "says 4", "says 5"]);
});

test("an icon is sent as a path, and at most a hundred are at once", async (t) => {
  t.mock.method(performance, "now", () => 1_000);
  t.mock.method(globalThis, "fetch", async () => Response.json({ lamp: "M1", help: "M2" }));
  Object.assign(globalThis, { ICONS_URL: "/icons/" }); // the build of the dashboard sets it
  t.after(() => Reflect.deleteProperty(globalThis, "ICONS_URL"));
  const { ask, feed, sent } = openFeed();

  const before = sent.length;
  await ask({ kind: "icon", name: "lamp" });
  await until(() => sent.length > before);
  const first = sent.slice(before);
  for (let count = 1; count < 100; count++) await ask({ kind: "icon", name: "lamp" });
  const refused = await ask({ kind: "icon", name: "lamp" });

  assert.deepEqual(first, [{ kind: "icon", name: "lamp", path: "M1" }]);
  assert.deepEqual(refused, []);
  assert.deepEqual(feed.first().icons, { lamp: "M1" });
});
