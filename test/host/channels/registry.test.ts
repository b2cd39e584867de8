import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { DeclaredChannel } from "@mantel/plugin-sdk/protocol";
import type { ChannelEvent } from "../../../host/api/events.ts";
import { ChannelFollower } from "../../../host/channels/follower.ts";
import { ChannelRegistry, channelText } from "../../../host/channels/registry.ts";
import { Bus } from "../../../host/events/bus.ts";
import { ApiPaths } from "../../../host/routes/api-paths.ts";

/** Plain JSON Schema, as it arrives from a process. */
const TEXTS = { type: "array", items: { type: "string" } };
const declared = (name: string, change: Partial<DeclaredChannel> = {}): DeclaredChannel => ({
  name,
  schema: TEXTS,
  title: name,
  maxBytes: 1_000,
  scope: "read",
  keep: false,
  ...change,
});

function open(t: TestContext) {
  const bus = new Bus();
  const events: ChannelEvent[] = [];
  bus.on(({ topic, data }) => topic === "channel" && events.push(data));
  const channels = new ChannelRegistry({ bus, paths: new ApiPaths() });
  t.after(() => channels.close());
  channels.admit("news", [declared("headlines")]);
  channels.settle("news");
  const value = (name = "headlines") => channels.find("news", name)?.current?.value;
  return { channels, events, value };
}

test("a published value is served, with a revision that grows, and announced", async (t) => {
  const { channels, events, value } = open(t);

  await channels.publish("news", "headlines", '["Rain"]');
  const first = channels.find("news", "headlines");
  await channels.publish("news", "headlines", '["Sun"]');
  const second = channels.find("news", "headlines");

  assert.deepEqual(value(), ["Sun"]);
  assert.equal(channels.taken, 2);
  assert.ok((second?.current?.revision ?? 0) > 0);
  assert.equal(first, second);
  const [{ revision: one }, { revision: two }] = events.map(({ text }) => JSON.parse(text)) as [
    { revision: number },
    { revision: number },
  ];
  assert.ok(two > one);
  assert.deepEqual(events[1], {
    channel: "news/headlines",
    scope: "read",
    text: channelText(second as never),
    isRemoved: false,
  });
  assert.deepEqual(JSON.parse(events[1]?.text ?? ""), {
    plugin: "news",
    name: "headlines",
    value: ["Sun"],
    revision: two,
    updatedAt: second?.current?.updatedAt,
  });
});

const WRONG: readonly [string, string, RegExp][] = [
  [
    "against its schema",
    '["a", 7]',
    /^the value of news\/headlines is invalid: \/1 is 7; it must be of type string/,
  ],
  ["that is not JSON", '["a"', /^the value of news\/headlines is not JSON/],
  ["above its size", `["${"x".repeat(1_000)}"]`, /has 1004 bytes of JSON, the limit is 1000/],
  ["nested deep", `${"[".repeat(200)}${"]".repeat(200)}`, /more than 32 levels and 50000 items/],
  ["of many items", `[${"1,".repeat(450)}1]`, /is invalid/],
];
for (const [name, json, message] of WRONG) {
  test(`a value ${name} is refused, and the last one stays`, async (t) => {
    const { channels, events, value } = open(t);
    await channels.publish("news", "headlines", '["Rain"]');

    await assert.rejects(channels.publish("news", "headlines", json), { code: "invalid", message });

    assert.deepEqual([value(), events.length], [["Rain"], 1]);
  });
}

test("a channel that the code does not declare is refused, whatever its name", async (t) => {
  const { channels } = open(t);
  for (const name of ["other", "__proto__", "constructor", "toString", ""]) {
    await assert.rejects(channels.publish("news", name, "[]"), /news declares no channel/);
  }
  await assert.rejects(channels.publish("__proto__", "headlines", "[]"), /declares no channel/);
});

test("a value with the key __proto__ stays plain data", async (t) => {
  const { channels, value } = open(t);
  channels.admit("news", [declared("headlines", { schema: {} })]);
  await channels.publish("news", "headlines", '{"__proto__": {"admin": true}}');
  assert.deepEqual(Object.keys(value() as object), ["__proto__"]);
  assert.equal((value() as { admin?: boolean }).admin, undefined);
  assert.ok(channelText(channels.find("news", "headlines") as never).includes('"__proto__"'));
});

test("line breaks in the JSON never reach an event stream", async (t) => {
  const { channels, events } = open(t);
  await channels.publish("news", "headlines", '[\n"a",\r\n"b"]');
  assert.match(events[0]?.text ?? "", /"value":\["a","b"\]/);
});

test("of many values at once a burst is served, then the latest at a limited rate", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { channels, events, value } = open(t);
  const published = Array.from({ length: 10_000 }, (_, rank) =>
    channels.publish("news", "headlines", `["${rank}"]`),
  );
  assert.equal(events.length, 100);
  for (; now < 1_000; now += 10) t.mock.timers.tick(10);

  await Promise.all(published);
  assert.deepEqual(value(), ["9999"]);
  assert.equal(events.length, 101);
});

test("large values wait until the plugin may send as many bytes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { channels, events } = open(t);
  channels.admit("news", [declared("headlines", { maxBytes: 2 ** 20 })]);
  const large = `["${"x".repeat(2 ** 20 - 10)}"]`;
  const published = Array.from({ length: 50 }, () => channels.publish("news", "headlines", large));
  assert.ok(events.length <= 4, String(events.length));
  for (; now < 3_000; now += 100) t.mock.timers.tick(100);
  await Promise.all(published);
  assert.ok(events.length <= 5, String(events.length));
});

test("new code keeps the values that fit its schemas, and other channels are gone", async (t) => {
  const { channels, events, value } = open(t);
  channels.admit("news", [declared("headlines"), declared("weights"), declared("old")]);
  for (const name of ["headlines", "weights", "old"]) {
    await channels.publish("news", name, '["1"]');
  }
  events.length = 0;
  const numbers = { type: "array", items: { type: "number" } };

  channels.admit("news", [declared("headlines"), declared("weights", { schema: numbers })]);
  assert.deepEqual([value(), value("weights"), value("old")], [["1"], ["1"], ["1"]]);
  channels.settle("news");

  assert.deepEqual([value(), value("weights"), value("old")], [["1"], undefined, undefined]);
  assert.equal(channels.find("news", "old"), undefined);
  assert.deepEqual(
    events.map(({ channel, isRemoved, text }) => [channel, isRemoved, text]),
    [
      ["news/weights", true, '{"plugin":"news","name":"weights","removed":true}'],
      ["news/old", true, '{"plugin":"news","name":"old","removed":true}'],
    ],
  );
});

test("the values of the previous code stay if new code does not start", async (t) => {
  const { channels, value } = open(t);
  await channels.publish("news", "headlines", '["Rain"]');

  channels.admit("news", [declared("headlines", { schema: { type: "number" } })]);
  await assert.rejects(channels.publish("news", "headlines", '["Sun"]'), /is invalid/);
  channels.admit("news", [declared("headlines")]);
  channels.settle("news");

  assert.deepEqual(value(), ["Rain"]);
});

test("the channels of a module that has ended are gone", async (t) => {
  const { channels, events } = open(t);
  await channels.publish("news", "headlines", '["Rain"]');
  const changes = channels.changes;
  channels.remove("news");
  assert.deepEqual(channels.list(), []);
  assert.ok(channels.changes > changes);
  assert.equal(events.at(-1)?.isRemoved, true);
  await assert.rejects(channels.publish("news", "headlines", "[]"), /declares no channel/);
});

test("a follower gets the value there is, each later one, and the end", async (t) => {
  const { channels } = open(t);
  await channels.publish("news", "headlines", '["Rain"]');
  const changes: unknown[] = [];
  const follower = new ChannelFollower(channels, async (change) => void changes.push(change));
  t.after(() => follower.close());

  assert.deepEqual(follower.follow("news/headlines"), { isProvided: true });
  assert.deepEqual(follower.follow("nobody/nothing"), { isProvided: false });
  await new Promise(setImmediate);
  await channels.publish("news", "headlines", '["Sun"]');
  await new Promise(setImmediate);
  channels.remove("news");
  await new Promise(setImmediate);

  const channel = "news/headlines";
  assert.deepEqual(changes, [
    { channel, json: '["Rain"]' },
    { channel, json: '["Sun"]' },
    { channel },
  ]);
});

test("a follower that is slow or fails gets only the latest value", async (t) => {
  const { channels } = open(t);
  const changes: (string | undefined)[] = [];
  let taken = (): void => undefined;
  const follower = new ChannelFollower(channels, ({ json }) => {
    changes.push(json);
    return new Promise((_resolve, reject) => (taken = () => reject(new Error("too late"))));
  });
  t.after(() => follower.close());
  follower.follow("news/headlines");
  for (const title of ["1", "2", "3", "4"]) {
    await channels.publish("news", "headlines", `["${title}"]`);
  }
  taken();
  await new Promise(setImmediate);
  assert.deepEqual(changes, ['["1"]', '["4"]']);
});

test("a plugin is asked for its channels by each follower and reader, and is followed until all have left", async (t) => {
  const { channels } = open(t);
  const asked: string[] = [];
  channels.demand.setReady((plugin) => {
    asked.push(plugin);
    return plugin === "news" ? Promise.reject(new Error("it does not start")) : undefined;
  });

  await channels.demand.whenCurrent("news");
  const leave = channels.demand.follow(channels.plugins(), () => true);
  const follower = new ChannelFollower(channels, async () => undefined);
  follower.follow("news/headlines");
  follower.follow("weather/today");

  assert.deepEqual(asked, ["news", "news", "news", "weather"]);
  leave();
  assert.equal(channels.isFollowed("news"), true);
  assert.equal(channels.isFollowed("weather"), false); // it has no channel yet
  channels.admit("weather", [declared("today")]);
  assert.equal(channels.isFollowed("weather"), true);
  follower.close();
  assert.deepEqual([channels.isFollowed("news"), channels.isFollowed("weather")], [false, false]);
});
