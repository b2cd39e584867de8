import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import * as fc from "fast-check";
import { Audit } from "../../host/auth/audit.ts";
import { Publisher } from "../../host/mqtt/publish.ts";
import plugin from "../../plugins/mqtt/index.ts";
import { oddText } from "../../scripts/fuzz/values.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { collect, type Mosquitto, startMosquitto, withoutMosquitto } from "../helpers/mosquitto.ts";
import { until } from "../helpers/until.ts";

const BAD_TOPICS = 10_000;
const PRINCIPAL = { sub: "fuzz", jti: "1" };
/** The text of the link when the connection is lost. */
const LOSSES = new Set(["lost the connection to the broker", "cannot connect to the broker"]);

/** Something that no topic may have, anywhere in a text. */
const bad = fc.oneof(
  fc
    .tuple(
      oddText,
      fc.constantFrom("+", "#", "\u0000", "\u0001", "\n", "\u007f", "\ud800", "\uffff"),
      oddText,
    )
    .map((parts) => parts.join("")),
  oddText.map((text) => `$${text}`),
  fc.constantFrom("", "x".repeat(65_536), "ä".repeat(32_768), "a/".repeat(200)),
  fc.oneof(fc.integer(), fc.constant(null), fc.array(oddText, { maxLength: 2 })),
);
const badTopic = bad.filter(
  (topic) => typeof topic !== "string" || !/^[^+#$\p{C}]{1,99}$/u.test(topic),
);

async function overBroker(t: TestContext): Promise<{
  readonly mosquitto: Mosquitto;
  readonly messages: Awaited<ReturnType<typeof collect>>;
  readonly losses: () => number;
  readonly statusOf: (topic: unknown, payload?: unknown) => Promise<number>;
}> {
  const mosquitto = await startMosquitto(t);
  const messages = await collect(t, mosquitto.url);
  const link = await startPlugin(plugin, { config: { url: mosquitto.url } });
  t.after(() => link.stop());
  const publisher = new Publisher({
    config: { current: { mqtt: { denyTopics: [] } } },
    call: (name, message) => link.call(name, message),
    log: { warn: () => undefined },
    audit: new Audit(await emptyFolder(t)),
  });
  return {
    mosquitto,
    messages,
    losses: () => link.logs.filter(({ sentence }) => LOSSES.has(sentence)).length,
    async statusOf(topic, payload = "x") {
      const done = publisher.publish({ topic, payload, qos: 1 }, PRINCIPAL);
      const error: unknown = await done.then(
        () => undefined,
        (cause: unknown) => cause,
      );
      if (error === undefined) return 200;
      return error instanceof MantelError ? error.status : 500;
    },
  };
}

test(
  `${BAD_TOPICS} bad topics are refused, and the link to the broker stays`,
  { skip: withoutMosquitto },
  async (t) => {
    const { statusOf, losses, messages } = await overBroker(t);
    const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
    const counts = new Map<number, number>();

    for (const topic of fc.sample(badTopic, { numRuns: BAD_TOPICS, seed })) {
      const status = await statusOf(topic);
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (status !== 422) t.diagnostic(JSON.stringify([status, topic]));
    }

    t.diagnostic(JSON.stringify({ FUZZ_SEED: seed, ...Object.fromEntries(counts) }));
    assert.deepEqual([...counts], [[422, BAD_TOPICS]]);
    assert.equal(losses(), 0, "the link was never lost");
    assert.equal(await statusOf("garden/pump"), 200);
    assert.ok(await until(() => messages.length === 1));
  },
);

test("any topic and payload is refused or arrives", { skip: withoutMosquitto }, async (t) => {
  const { statusOf, losses } = await overBroker(t);
  const samples = fc.sample(fc.tuple(fc.oneof(oddText, bad), oddText), 1_000);

  const statuses = new Set<number>();
  for (const [topic, payload] of samples) statuses.add(await statusOf(topic, payload));

  assert.deepEqual(
    [...statuses].toSorted((a, b) => a - b),
    [200, 422],
  );
  assert.equal(losses(), 0, "the link was never lost");
});

test(
  "without a broker a publish fails, and after its return one succeeds",
  { skip: withoutMosquitto },
  async (t) => {
    const { mosquitto, losses, statusOf } = await overBroker(t);

    assert.equal(await statusOf("a/b"), 200); // the link has come up
    await mosquitto.stop();
    assert.equal(await statusOf("a/b"), 503);
    await mosquitto.start();

    await until(async () => (await statusOf("a/b")) === 200, { withinMs: 10_000 });
    assert.ok(await until(() => losses() > 0), "the loss is told of");
  },
);
