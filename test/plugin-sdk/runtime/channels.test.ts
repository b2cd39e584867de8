import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  type ChannelReader,
  defineChannels,
  definePlugin,
  type PluginContext,
  Type,
} from "@mantel/plugin-sdk";
import { startPlugin, type TestHostOptions } from "@mantel/plugin-sdk/testing";

const Headlines = Type.Array(Type.Object({ title: Type.String(), rank: Type.Number() }));
const channels = defineChannels({
  headlines: { schema: Headlines },
  anything: { schema: Type.Unknown(), maxBytes: 100 },
});
type Context = PluginContext<undefined, undefined, typeof channels>;

async function open(t: TestContext, options?: TestHostOptions) {
  let context: Context | undefined;
  const plugin = definePlugin({ channels, start: (ctx) => void (context = ctx) });
  const running = await startPlugin(plugin, options);
  t.after(() => running.stop());
  assert.ok(context);
  return { running, ctx: context, warnings: () => running.logs.map(({ fields }) => fields) };
}

const settled = () => new Promise(setImmediate);

test("a published value is checked by the channel's schema", async (t) => {
  const { running, ctx } = await open(t);

  await ctx.channels.headlines.publish([{ title: "Rain", rank: 1 }]);
  assert.deepEqual(running.published["headlines"], [{ title: "Rain", rank: 1 }]);

  const wrong = [{ title: 7, rank: 1 }] as never;
  await assert.rejects(ctx.channels.headlines.publish(wrong), {
    code: "invalid",
    message: "the value of test/headlines is invalid: /0/title is 7; it must be of type string",
  });
  assert.deepEqual(running.published["headlines"], [{ title: "Rain", rank: 1 }]);
});

test("a refused value that nothing waits for is in the log, and ends nothing", async (t) => {
  const { running, ctx } = await open(t);

  void ctx.channels.headlines.publish("nothing" as never);
  await settled();

  assert.equal(running.logs.at(-1)?.sentence, "refused a value of a channel");
});

const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const NOT_JSON: readonly [string, unknown, RegExp][] = [
  ["undefined", undefined, /is undefined; publish plain data/],
  ["a function", () => 1, /is function; publish plain data/],
  ["NaN", { a: [Number.NaN] }, /has NaN at "0"; use null for an unknown number/],
  ["Infinity", Infinity, /has Infinity at ""/],
  ["a BigInt", 1n, /is not plain data \(JSON\)/],
  ["a circular object", cyclic, /is not plain data \(JSON\): .*circular/],
  ["too much", "x".repeat(200), /has 202 bytes of JSON, the limit is 100; publish less, or raise/],
];
for (const [name, value, message] of NOT_JSON) {
  test(`${name} is refused before it is sent`, async (t) => {
    const { running, ctx } = await open(t);
    await assert.rejects(ctx.channels.anything.publish(value), { code: "invalid", message });
    assert.equal(running.published["anything"], undefined);
    assert.match(String(running.logs.at(-1)?.fields?.["error"]), message);
  });
}

test("of 10,000 values at once a burst and the latest are sent, and the log says so", async (t) => {
  const { running, ctx } = await open(t);
  let last: Promise<void> | undefined;
  for (let rank = 0; rank < 10_000; rank++) {
    last = ctx.channels.headlines.publish([{ title: "Rain", rank }]);
  }
  await last;

  assert.deepEqual(running.published["headlines"], [{ title: "Rain", rank: 9_999 }]);
  const told = running.logs.filter(({ sentence }) => sentence.includes("published faster"));
  assert.ok(told.length >= 4 && told.length <= 5, String(told.length));
  assert.deepEqual(told[0], {
    level: "warn",
    sentence:
      "a channel is published faster than 50 values a second; only the latest value is sent",
    fields: { channel: "headlines", replaced: 1 },
  });
});

test("a value that waits is sent when the plugin stops", async () => {
  let context: Context | undefined;
  const plugin = definePlugin({ channels, start: (ctx) => void (context = ctx) });
  const running = await startPlugin(plugin);
  for (let rank = 0; rank < 100; rank++)
    void context?.channels.headlines.publish([{ title: "", rank }]);
  await running.stop();
  assert.deepEqual(running.published["headlines"], [{ title: "", rank: 99 }]);
});

test("channels are not published in connect, while the previous code runs", async () => {
  let failure: unknown;
  const plugin = definePlugin({
    channels,
    connect: (ctx) =>
      ctx.channels.headlines.publish([]).catch((error: unknown) => (failure = error)),
    start: () => undefined,
  });
  const running = await startPlugin(plugin);
  assert.match(String(failure), /channels\.publish is not allowed in connect/);
  assert.equal(running.published["headlines"], undefined);
  await running.stop();
});

const NEWS = "news/headlines";

test("a channel of another plugin has its value, and calls its listeners", async (t) => {
  const { running, ctx } = await open(t, { channels: { [NEWS]: ["Rain"] } });
  const reader = ctx.channel(NEWS, Type.Array(Type.String()));
  const heard: unknown[] = [];
  const stop = reader.on((value) => heard.push(value));
  await settled();

  running.feedChannel(NEWS, ["Sun"]);
  assert.deepEqual([reader.value, heard], [["Sun"], [["Rain"], ["Sun"]]]);
  running.feedChannel(NEWS, undefined);
  assert.deepEqual([reader.value, heard.at(-1)], [undefined, undefined]);
  stop();
  running.feedChannel(NEWS, ["Snow"]);
  assert.deepEqual([reader.value, heard.length], [["Snow"], 3]);
});

test("a second reader of a channel has the value that the first one has", async (t) => {
  const { ctx } = await open(t, { channels: { [NEWS]: ["Rain"] } });
  ctx.channel(NEWS, Type.Unknown());
  await settled();
  assert.deepEqual(ctx.channel(NEWS, Type.Array(Type.String())).value, ["Rain"]);
});

test("a value of another version of the schema is not shown, and the last one that fitted stays", async (t) => {
  const { running, ctx } = await open(t, { channels: { [NEWS]: { version: 1 } } });
  const reader = ctx.channel(NEWS, Type.Object({ version: Type.Literal(1) }));
  await settled();

  for (let count = 0; count < 10; count++) running.feedChannel(NEWS, { version: 2 });

  assert.deepEqual(reader.value, { version: 1 });
  const told = running.logs.filter(({ sentence }) => sentence.includes("does not fit the schema"));
  assert.deepEqual(
    told.map(({ fields }) => fields?.["count"]),
    [1, 10],
  );
  assert.equal(told[0]?.fields?.["pointer"], "/version");
});

test("a channel that nobody provides is undefined, and the log says so once", async (t) => {
  const { running, ctx } = await open(t, { channels: { [NEWS]: undefined } });
  const reader = ctx.channel(NEWS, Type.Unknown());
  ctx.channel(NEWS, Type.Unknown());
  await settled();
  assert.equal(reader.value, undefined);
  const told = running.logs.filter(
    ({ sentence }) => sentence === "no plugin provides the channel yet",
  );
  assert.equal(told.length, 1);
});

test("a channel that the manifest does not name is refused with the line to add", async (t) => {
  const { ctx } = await open(t);
  assert.throws(() => ctx.channel(NEWS, Type.Unknown()), {
    code: "invalid",
    message:
      'test reads the channel news/headlines undeclared; add "news/headlines" to "mantel.uses" in its package.json',
  });
});

test("a listener that throws is in the log, and the others are called", async (t) => {
  const { running, ctx } = await open(t, { channels: { [NEWS]: undefined } });
  const reader = ctx.channel(NEWS, Type.Unknown());
  const heard: unknown[] = [];
  reader.on(() => {
    throw new Error("no");
  });
  reader.on((value) => heard.push(value));
  running.feedChannel(NEWS, 1);
  assert.deepEqual(heard, [1]);
  assert.equal(running.logs.at(-1)?.sentence, "a listener of the channel failed");
});

test("a channel can be followed with for await, which ends when the plugin stops", async () => {
  let reader: ChannelReader<number> | undefined;
  const plugin = definePlugin({
    start: (ctx) => void (reader = ctx.channel(NEWS, Type.Number())),
  });
  const running = await startPlugin(plugin, { channels: { [NEWS]: 1 } });
  const heard: number[] = [];
  const following = (async () => {
    for await (const value of reader ?? []) heard.push(value);
  })();
  await settled();
  running.feedChannel(NEWS, 2);
  await settled();
  running.feedChannel(NEWS, 3);
  running.feedChannel(NEWS, 4);
  await settled();
  await running.stop();
  await following;
  assert.deepEqual(heard, [1, 2, 4]);
});
