import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

/** Publishes what `work` says, when it starts. */
const news = (work: string, { schema = "Type.Array(Type.String())", name = "headlines" } = {}) => `
import { defineChannels, definePlugin, Type } from "@mantel/plugin-sdk";
const channels = defineChannels({ "${name}": { schema: ${schema}, title: "Headlines" } });
export default definePlugin({
  channels,
  async start(ctx) {
    const publish = (value) => ctx.channels["${name}"].publish(value);
    ${work}
  },
});
`;
/** Logs each value of the channel. */
const READER = `
import { definePlugin, Type } from "@mantel/plugin-sdk";
export default definePlugin({
  start(ctx) {
    const headlines = ctx.channel("news/headlines", Type.Array(Type.String()));
    headlines.on((value) => ctx.log.info("read", { value }));
  },
});
`;
const withNews = (index: string) => ({
  news: { "package.json": packageJson("news", {}), "index.ts": index },
});
const reader = {
  "package.json": packageJson("reader", { uses: ["news/headlines"] }),
  "index.ts": READER,
};

test("another plugin reads the values of a channel, over reloads of both", async (t) => {
  const home = await startModules(t, { ...withNews(news(`await publish(["Rain"])`)), reader });
  const { channels, edit, once, registry } = home;
  const heard = () =>
    registry
      .logs("reader")
      .filter(({ sentence }) => ["read", "heard"].includes(sentence))
      .map(({ fields }) => JSON.stringify(fields?.["value"]));
  await until(() => heard().at(-1) === '["Rain"]');

  await edit("news/index.ts", () => news(`await publish(["Sun"])`));
  await until(() => heard().at(-1) === '["Sun"]');

  await edit("reader/index.ts", (source) => source.replace('"read"', '"heard"'));
  await once("reader", ({ generation }) => generation === 2);
  await until(() => heard().length >= 3);
  assert.equal(heard().at(-1), '["Sun"]');

  await edit("news/index.ts", () => news(""));
  await once("news", ({ generation }) => generation === 3);
  assert.deepEqual(channels.find("news", "headlines")?.current?.value, ["Sun"]);

  await registry.disable("news");
  assert.equal(channels.find("news", "headlines"), undefined);
});

test("after a reload the values are those that fit the schema of the new code, and a failed reload changes nothing", async (t) => {
  const home = await startModules(t, withNews(news(`await publish(["Rain"])`)));
  const { channels, edit, once } = home;
  const value = () => channels.find("news", "headlines")?.current?.value;
  const numbers = { schema: "Type.Array(Type.Number())" };
  assert.deepEqual(value(), ["Rain"]);

  await edit("news/index.ts", () => news(`throw new Error("no")`, numbers));
  await once("news", ({ lastReload }) => lastReload?.result === "rolled_back");
  assert.deepEqual(value(), ["Rain"]);
  assert.match(JSON.stringify(channels.list()[0]?.declared.schema), /"string"/);

  await edit("news/index.ts", () => news("", numbers));
  await once("news", ({ generation }) => generation === 2);
  assert.deepEqual([channels.list().length, value()], [1, undefined]);

  await edit("news/index.ts", () => news("", { name: "stories" }));
  await once("news", ({ generation }) => generation === 3);
  assert.deepEqual(
    channels.list().map(({ declared }) => declared.name),
    ["stories"],
  );
});

test("refused values and 10,000 values at once leave the module working, and are logged", async (t) => {
  const work = `
    const told = [];
    for (const wrong of ["text", [7], undefined, [NaN], ["x".repeat(10 * 2 ** 20)]]) {
      await publish(wrong).catch((error) => told.push(error.code + " " + error.message.slice(0, 91)));
    }
    ctx.log.info("refused", { told });
    for (let rank = 0; rank < 10_000; rank++) publish([String(rank)]);
  `;
  const { channels, registry } = await startModules(t, withNews(news(work)));
  const value = () => channels.find("news", "headlines")?.current?.value;

  await until(() => JSON.stringify(value()) === '["9999"]');

  const logs = registry.logs("news");
  assert.deepEqual(logs.find(({ sentence }) => sentence === "refused")?.fields?.["told"], [
    'invalid the value of news/headlines is invalid: the whole value is "text"; it must be of type array',
    "invalid the value of news/headlines is invalid: /0 is 7; it must be of type string",
    "invalid the value of the channel headlines is undefined; publish plain data (JSON)",
    'invalid the value of the channel headlines has NaN at "0"; use null for an unknown number',
    "invalid the value of the channel headlines has 10485764 bytes of JSON, the limit is 65536; publish ",
  ]);
  assert.ok(logs.some(({ sentence }) => sentence === "refused a value of a channel"));
  assert.ok(logs.some(({ sentence }) => sentence.startsWith("a channel is published faster")));
  assert.equal(registry.get("news").state, "active");
});

test("code with an invalid channel does not start, with its line", async (t) => {
  const { edit, once, registry } = await startModules(t, withNews(news("")));
  await edit("news/index.ts", () => news("", { name: "Not a name" }));
  await once("news", ({ lastReload }) => lastReload?.result === "rolled_back");
  const { lastReload } = registry.get("news");
  assert.match(
    lastReload?.error?.message ?? "",
    /the channel "Not a name" must be named with lower-case words/,
  );
  assert.equal(lastReload?.error?.line, 3);
});
