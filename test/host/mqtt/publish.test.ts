import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type LogFields, type MqttPublish, mqttPublish } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { Audit } from "../../../host/auth/audit.ts";
import { Publisher } from "../../../host/mqtt/publish.ts";
import plugin from "../../../plugins/mqtt/index.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { freePort } from "../../helpers/free-port.ts";
import { collect, startMosquitto, withoutMosquitto } from "../../helpers/mosquitto.ts";
import { until } from "../../helpers/until.ts";

const PRINCIPAL = { sub: "wall-tablet", jti: "b1c2" };

/** A publisher over `answer` in the place of the service. */
async function openPublisher(
  t: TestContext,
  answer: (message: MqttPublish) => Promise<unknown> = async () => undefined,
) {
  const folder = await emptyFolder(t);
  const calls: [name: string, message: MqttPublish, deadlineMs: number][] = [];
  const warnings: (LogFields | undefined)[] = [];
  const publisher = new Publisher({
    config: { current: { mqtt: { denyTopics: ["zigbee2mqtt/bridge/request/#", "+/firmware"] } } },
    call: ({ name }, message, deadlineMs) => {
      calls.push([name, message, deadlineMs]);
      return answer(message);
    },
    log: { warn: (_, fields) => void warnings.push(fields) },
    audit: new Audit(folder),
  });
  return {
    publish: (body: unknown) => publisher.publish(body, PRINCIPAL),
    calls,
    warnings,
    audited: () => readFile(join(folder, "audit.log"), "utf8").catch(() => ""),
  };
}

async function overMosquitto(t: TestContext) {
  const { url } = await startMosquitto(t, { acl: ["topic readwrite home/#"] });
  const messages = await collect(t, url);
  const link = await startPlugin(plugin, { config: { url } });
  t.after(() => link.stop());
  return { ...(await openPublisher(t, (message) => link.call(mqttPublish, message))), messages };
}

test("a publish with nothing but topic and payload is QoS 0 and not retained", async (t) => {
  const { publish, calls } = await openPublisher(t);

  const receipt = await publish({ topic: "home/desk", payload: "größer" });

  assert.deepEqual(receipt, { topic: "home/desk", bytes: 8, qos: 0, retain: false });
  assert.deepEqual(calls, [
    ["mqtt.publish", { topic: "home/desk", payload: "größer", qos: 0, retain: false }, 2_000],
  ]);
});

test("an accepted publish is recorded without the payload", async (t) => {
  const { publish, audited } = await openPublisher(t);
  const before = Date.now();

  await publish({ topic: "home/desk", payload: "canary-41d2", qos: 2, retain: true });

  const { id: _, at, ...record } = JSON.parse(await audited());
  assert.ok(before <= Date.parse(at) && Date.parse(at) <= Date.now());
  assert.deepEqual(record, { ...PRINCIPAL, action: "mqtt.publish", topic: "home/desk", bytes: 11 });
});

test("a publish with unknown outcome is recorded", async (t) => {
  const { publish, audited } = await openPublisher(t, async () => {
    throw new MantelError("deadline_passed", "too late");
  });

  await assert.rejects(publish({ topic: "home/desk", payload: "on" }));

  assert.match(await audited(), /"topic":"home\/desk"/);
});

for (const [body, pointer] of [
  [undefined, ""],
  [[], ""],
  [{ payload: "on" }, "/topic"],
  [{ topic: "a" }, "/payload"],
  [{ topic: 7, payload: "on" }, "/topic"],
  [{ topic: "a", payload: { on: true } }, "/payload"],
  [{ topic: "a", payload: "on", qos: 3 }, "/qos"],
  [{ topic: "a", payload: "on", qos: "1" }, "/qos"],
  [{ topic: "a", payload: "on", retain: "yes" }, "/retain"],
  [{ topic: "a", payload: "on", dup: true }, "/dup"],
  [{ topic: "a/#", payload: "on" }, "/topic"],
  [{ topic: "a", payload: "x".repeat(256 * 1024 + 1) }, "/payload"],
  [{ topic: "a", payload: "ü".repeat(128 * 1024 + 1) }, "/payload"],
  [{ topic: "a", payload: "\ud83d" }, "/payload"],
] as const) {
  test(`refused at "${pointer}": ${JSON.stringify(body)?.slice(0, 50)}`, async (t) => {
    const { publish, calls, audited } = await openPublisher(t);

    await assert.rejects(publish(body), (error) => {
      assert.ok(error instanceof MantelError);
      assert.equal(error.code, "invalid");
      assert.deepEqual(
        error.extras.errors?.map((fault) => fault.pointer),
        [pointer],
      );
      return true;
    });

    assert.deepEqual([calls, await audited()], [[], ""]);
  });
}

test("faults of topic and payload are reported together", async (t) => {
  const { publish } = await openPublisher(t);

  await assert.rejects(publish({ topic: "#", payload: "\ud83d" }), (error) => {
    assert.ok(error instanceof MantelError);
    assert.deepEqual(
      error.extras.errors?.map(({ pointer }) => pointer),
      ["/topic", "/payload"],
    );
    return true;
  });
});

for (const [body, pointers] of [
  [{ topic: "+", payload: 1, qos: 9 }, ["/payload", "/qos", "/topic"]],
  [{ topic: 1, payload: "\ud83d", dup: 1 }, ["/dup", "/payload", "/topic"]],
  [{ topic: "" }, ["/payload", "/topic"]],
  [["+"], [""]],
  ["+", [""]],
  [null, [""]],
] as const) {
  test(`faults of form and of content are reported together: ${JSON.stringify(body)}`, async (t) => {
    const { publish } = await openPublisher(t);

    await assert.rejects(publish(body), (error) => {
      assert.ok(error instanceof MantelError);
      const found = error.extras.errors?.map(({ pointer }) => pointer) ?? [];
      assert.deepEqual(found.toSorted(), pointers);
      return true;
    });
  });
}

test("a payload of exactly 256 KiB passes", async (t) => {
  const { publish } = await openPublisher(t);

  const { bytes } = await publish({ topic: "a", payload: "\0".repeat(256 * 1024) });

  assert.equal(bytes, 262_144);
});

for (const topic of [
  "zigbee2mqtt/bridge/request/permit_join",
  "zigbee2mqtt/bridge/request",
  "esp/firmware",
]) {
  test(`the config denies ${topic}`, async (t) => {
    const { publish, calls, warnings, audited } = await openPublisher(t);

    await assert.rejects(publish({ topic, payload: "{}" }), { code: "topic_denied", status: 403 });

    assert.deepEqual([calls, await audited()], [[], ""]);
    assert.equal(warnings[0]?.["sub"], "wall-tablet");
  });
}

test("a long topic that is denied is cut at a whole character", async (t) => {
  const { publish } = await openPublisher(t);

  await assert.rejects(
    publish({ topic: `zigbee2mqtt/bridge/request/${"😀".repeat(201)}`, payload: "" }),
    (error) => error instanceof MantelError && error.message.isWellFormed(),
  );
});

for (const code of ["service_unavailable", "module_down", "deadline_passed"] as const) {
  test(`a link that answers ${code} counts as a broker that is down`, async (t) => {
    const { publish } = await openPublisher(t, async () => {
      throw new MantelError(code, "the mqtt module is away");
    });

    await assert.rejects(publish({ topic: "a", payload: "on" }), (error) => {
      assert.ok(error instanceof MantelError);
      assert.equal(error.code, "broker_down");
      assert.equal(error.extras.retryAfterMs, 1_000);
      return true;
    });
  });
}

test("an internal error of the link stays an internal error", async (t) => {
  const { publish } = await openPublisher(t, async () => {
    throw new TypeError("x is not a function");
  });

  await assert.rejects(publish({ topic: "a", payload: "on" }), TypeError);
});

test("a publish arrives at a real broker", { skip: withoutMosquitto }, async (t) => {
  const { publish, messages } = await overMosquitto(t);

  await publish({ topic: "home/desk", payload: "on", qos: 1 });

  await until(() => messages.length > 0);
  assert.deepEqual(messages, [{ topic: "home/desk", payload: "on", qos: 1, retain: false }]);
});

test("a publish that the broker's ACL denies is 403", { skip: withoutMosquitto }, async (t) => {
  const { publish } = await overMosquitto(t);

  await assert.rejects(publish({ topic: "garage/door", payload: "open", qos: 1 }), {
    code: "broker_refused",
    status: 403,
  });
});

test("an unreachable broker gives 503, and the link has 2 s to find out", async (t) => {
  const link = await startPlugin(plugin, {
    config: { url: `mqtt://127.0.0.1:${await freePort()}` },
  });
  t.after(() => link.stop());
  const { publish, calls } = await openPublisher(t, (message) => link.call(mqttPublish, message));

  await assert.rejects(publish({ topic: "home/desk", payload: "on" }), {
    code: "broker_down",
    status: 503,
  });

  assert.equal(calls[0]?.[2], 2_000);
});

test(
  "2,000 odd topics are accepted or refused, and none disturbs a real broker",
  { skip: withoutMosquitto },
  async (t) => {
    const { url } = await startMosquitto(t);
    const link = await startPlugin(plugin, { config: { url } });
    t.after(() => link.stop());
    const { publish } = await openPublisher(t, (message) => link.call(mqttPublish, message));

    for (let seed = 1; seed <= 2_000; seed++) {
      await publish({ topic: oddTopic(seed), payload: "", qos: 1 }).catch((error: unknown) => {
        assert.ok(error instanceof MantelError);
        assert.match(error.code, /^(invalid|topic_denied)$/, `seed ${seed}: ${error.message}`);
      });
    }

    assert.equal(
      link.logs.filter(({ sentence }) => sentence === "connected to the broker").length,
      1,
    );
  },
);

const PIECES = [
  "a",
  "/",
  "home",
  "#",
  "+",
  "$",
  "\0",
  "\u0001",
  "\u001f",
  "\u007f",
  "\u0085",
  "\ufffe",
  "\ufeff",
  "\ud800",
  "\udc00",
  "\u{1f600}",
  "\u{1fffe}",
  "\u200b",
  "\u2028",
  "é",
  "e\u0301",
  " ",
  "\\",
  "%00",
  "a/".repeat(90),
  "x".repeat(9_000),
];

/** The same topic for the same seed: up to seven pieces, picked by a linear congruential generator. */
function oddTopic(seed: number): string {
  let state = seed;
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  return Array.from({ length: next(8) }, () => PIECES[next(PIECES.length)]).join("");
}
