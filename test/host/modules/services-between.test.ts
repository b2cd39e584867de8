import assert from "node:assert/strict";
import { test } from "node:test";
import { SERVICE_LIMITS } from "../../../plugin-sdk/service.ts";
import { packageJson, startModules } from "../../helpers/module.ts";

const FEEDS = `
import { defineService, Type } from "@mantel/plugin-sdk";
const Feed = Type.Object({ feed: Type.String() });
const errors = { feed_unknown: "no feed has this name" };
export const items = defineService("acme.news.items", { input: Feed, output: Type.Array(Type.String()), errors, repeatable: true });
export const itemsNow = defineService("acme.news.items", { version: 2, input: Feed, output: Type.Integer(), deadlineMs: 1_000 });
export const count = defineService("acme.news.count", { input: Type.Object({}), output: Type.Integer() });
export const asked = defineService("acme.reader.ask", { input: Type.Object({ what: Type.String(), feed: Type.Unknown() }), output: Type.Unknown() });
`;
const NEWS = `
import { definePlugin, provide, ServiceError, Type } from "@mantel/plugin-sdk";
import { asked, count, items, itemsNow } from "./feeds.ts";
export default definePlugin({
  state: Type.Integer(),
  start({ call, handedOver = 0 }) {
    let calls = handedOver;
    return {
      services: [
        provide(items, async ({ feed }) => {
          if (feed === "unknown") throw new ServiceError(items, "feed_unknown", "there is no feed x");
          if (feed === "secret") throw Object.assign(new ServiceError(items, "feed_unknown", "1234"), { code: "feed_secret" });
          if (feed === "circle") return call(asked, { what: "items", feed }) as Promise<string[]>;
          return [feed];
        }),
        provide(itemsNow, ({ feed }) => (feed === "wrong" ? ("one" as never) : new Promise<number>((done) => setTimeout(done, 1_300, 1)))),
        provide(count, async () => {
          await new Promise((done) => setTimeout(done, 5));
          return ++calls;
        }),
      ],
      handOver: () => calls,
    };
  },
});
`;
const READER = `
import { definePlugin, provide } from "@mantel/plugin-sdk";
import { asked, count, items, itemsNow } from "./feeds.ts";
const known = { items, itemsNow, count, third: { ...items, version: 3 } };
export default definePlugin({
  start: ({ call }) => ({
    services: [
      provide(asked, async ({ what, feed }) => {
        if (what === "many") {
          const outcomes = new Set<string>();
          for (let round = 0; round < 20; round++) {
            const all = await Promise.allSettled(Array.from({ length: 500 }, () => call(items, { feed: "a" })));
            for (const each of all) outcomes.add(each.status === "fulfilled" ? "answered" : each.reason.code);
          }
          return [...outcomes];
        }
        if (what === "large") return call(items, { feed: "x".repeat(10 * 2 ** 20) }).catch(String);
        return call((known as any)[what], what === "count" ? {} : { feed } as any).catch(
          (error) => error.name + " " + error.code + ": " + error.message,
        );
      }),
    ],
  }),
});
`;
const plugins = {
  news: {
    "package.json": packageJson("news", {
      provides: ["acme.news.items", "acme.news.items@2", "acme.news.count"],
      uses: ["acme.reader.ask"],
    }),
    "feeds.ts": FEEDS,
    "index.ts": NEWS,
  },
  reader: {
    "package.json": packageJson("reader", {
      provides: ["acme.reader.ask"],
      uses: ["acme.news.items@1", "acme.news.items@2", "acme.news.items@3", "acme.news.count"],
    }),
    "feeds.ts": FEEDS,
    "index.ts": READER,
  },
};

test("plugins call each other's services by definitions of their own", async (t) => {
  const { services, registry, edit, once } = await startModules(t, plugins);
  const ask = (what: string, feed: unknown) => services.call("acme.reader.ask", { what, feed });

  assert.deepEqual(await ask("items", "world"), ["world"]);
  assert.equal(
    await ask("items", "unknown"),
    "ServiceError feed_unknown: there is no feed x",
    "a declared error reaches the caller",
  );
  assert.equal(
    await ask("items", "secret"),
    "MantelError service_unavailable: acme.news.items of news failed; see the log of news",
  );
  assert.match(
    String(await ask("items", 5)),
    /^MantelError invalid: the input of acme\.news\.items is invalid: \/feed/,
  );
  assert.match(
    String(await ask("itemsNow", "wrong")),
    /^MantelError service_unavailable: acme\.news\.items@2 of news gave a wrong answer/,
  );
  assert.match(
    String(await ask("itemsNow", "late")),
    /^MantelError deadline_passed: callService timed out after 1000 ms/,
  );
  assert.equal(
    await ask("third", "x"),
    "MantelError service_unavailable: no running module provides acme.news.items@3; there is acme.news.items, acme.news.items@2",
  );
  const circle = "acme.reader.ask → acme.news.items → acme.reader.ask";
  assert.match(
    String(await ask("items", "circle")),
    new RegExp(`^MantelError service_cycle: service cycle: ${circle}`),
  );
  const said = registry.logs("news").map(({ fields }) => String(fields?.["error"]));
  assert.ok(said.some((each) => each.includes("1234")));
  assert.ok(said.some((each) => each.includes("acme.news.items@2: the whole value")));

  const answers: unknown[] = [];
  const load = { isOver: false };
  const keepAsking = async (): Promise<void> => {
    while (!load.isOver) answers.push(await ask("count", null));
  };
  const asking = [1, 2, 3].map(keepAsking);
  await edit("news/index.ts", (source) => `${source}export const more = 1;\n`);
  await once("news", ({ generation }) => generation === 2);
  load.isOver = true;
  await Promise.all(asking);
  assert.deepEqual(
    answers.toSorted((a, b) => Number(a) - Number(b)),
    answers.map((_, at) => at + 1),
    "a reload of the provider drops no call and loses no state",
  );
});

test("a call of 10 MB is refused to its caller, and 10,000 calls in a row leave both plugins working", async (t) => {
  const { services, registry } = await startModules(t, plugins);
  const ask = (what: string, feed: unknown) => services.call("acme.reader.ask", { what, feed });

  const input = { what: "many", feed: "" };
  const many = await services.call("acme.reader.ask", input, SERVICE_LIMITS.deadlineMs);
  const large = await ask("large", "");
  const after = await ask("items", "world");

  assert.match(
    String(large),
    /message too large: the input of callService has 10\.0 MiB, the limit is 8\.0 MiB/,
  );
  assert.ok((many as string[]).includes("answered"));
  assert.deepEqual(after, ["world"]);
  assert.deepEqual(
    ["news", "reader"].map((id) => [registry.get(id).state, registry.get(id).restarts]),
    [
      ["active", 0],
      ["active", 0],
    ],
  );
});
