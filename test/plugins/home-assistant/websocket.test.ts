import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type RawData, WebSocket } from "ws";
import { domainOf, viewOf } from "../../../plugins/home-assistant/convert.ts";
import { Entities } from "../../../plugins/home-assistant/entities.ts";
import { DOMAINS } from "../../../plugins/home-assistant/options.ts";
import { ENTITIES, furnish } from "../../fakes/home-assistant-entities.ts";
import { FakeHomeAssistant } from "../../fakes/home-assistant.ts";
import entityShapes from "../../fixtures/home-assistant/entities.json" with { type: "json" };
import session from "../../fixtures/home-assistant/session.json" with { type: "json" };
import shapes from "../../fixtures/home-assistant/websocket.json" with { type: "json" };
import { shapeFaults, type Shapes } from "../../helpers/shape.ts";
import { until } from "../../helpers/until.ts";

const WEBSOCKET = shapes as unknown as Shapes;
type Frame = Record<string, unknown>;
const faults = (name: string, value: unknown) => shapeFaults(WEBSOCKET, name, value);

test("the sign-in of the fake Home Assistant is as its documentation has it", async (t) => {
  const fake = await FakeHomeAssistant.start(t);
  const right = await connect(t, fake);
  const wrong = await connect(t, fake, "another-token");

  assert.deepEqual(
    [right, wrong].map(({ frames }) => frames.map(({ type }) => type)),
    [
      ["auth_required", "auth_ok"],
      ["auth_required", "auth_invalid"],
    ],
  );
  for (const frame of [...right.frames, ...wrong.frames]) {
    assert.deepEqual(faults(String(frame["type"]), frame), []);
  }
});

for (const type of [
  "config/entity_registry/list",
  "config/device_registry/list",
  "config/area_registry/list",
  "get_states",
  "get_config",
]) {
  test(`the fake Home Assistant answers ${type} as the real one does`, async (t) => {
    const fake = await FakeHomeAssistant.start(t);
    furnish(fake);
    const { ask } = await connect(t, fake);

    const answer = await ask({ type });

    assert.deepEqual(faults("result", answer), []);
    const found = [answer["result"]].flat();
    assert.ok(found.length > 0);
    assert.deepEqual(
      found.flatMap((each) => faults(type, each)),
      [],
    );
  });
}

for (const { id, state, attributes } of ENTITIES) {
  test(`the fake's ${id} has the state and the attributes of its domain`, () => {
    const domain = id.split(".")[0] as keyof typeof entityShapes;
    const known = { [domain]: { ...entityShapes.every, ...entityShapes[domain] } };

    assert.deepEqual(shapeFaults(known as unknown as Shapes, domain, { state, attributes }), []);
  });
}

test("the fake has an entity of every domain that the bridge takes", () => {
  const domains = new Set(ENTITIES.map(({ id }) => id.split(".")[0]));
  const others = ["input_boolean", "select", "input_button"];
  assert.deepEqual(
    DOMAINS.filter((domain) => !domains.has(domain)),
    others,
  );
});

for (const [service, data, code] of [
  ["siren.turn_on", { tone: 1.5 }, "invalid_format"],
  ["siren.turn_off", { loud: true }, "invalid_format"],
  ["siren.shout", {}, "not_found"],
  ["lock.open", {}, "service_validation_error"],
] as const) {
  test(`the fake refuses ${service} with ${JSON.stringify(data)} as ${code}`, async (t) => {
    const fake = await FakeHomeAssistant.start(t);
    furnish(fake);
    const { ask } = await connect(t, fake);
    const [domain, name] = service.split(".");
    const entity_id = domain === "lock" ? "lock.front" : "siren.hall";

    const answer = await ask({
      type: "call_service",
      domain,
      service: name,
      service_data: data,
      target: { entity_id },
    });

    assert.equal((answer["error"] as { code: string }).code, code);
  });
}

test("pongs, refusals and results of the fake Home Assistant are as its documentation has them", async (t) => {
  const fake = await FakeHomeAssistant.start(t);
  furnish(fake);
  const { ask } = await connect(t, fake);
  const call = { type: "call_service", domain: "light" };
  const target = { entity_id: "light.sofa" };

  assert.deepEqual(faults("pong", await ask({ type: "ping" })), []);
  const called = await ask({ ...call, service: "turn_on", target });
  assert.deepEqual(faults("result", called), []);
  assert.deepEqual(faults("call_service", called["result"]), []);
  for (const refused of [
    await ask({ type: "no_such_command" }),
    await ask({ ...call, service: "no_such_service", target }),
  ]) {
    assert.equal(refused["success"], false);
    assert.deepEqual(faults("result", refused), []);
  }
});

test("the fake Home Assistant tells of entities and registries as the real one does", async (t) => {
  const fake = await FakeHomeAssistant.start(t);
  furnish(fake);
  const { ask, frames } = await connect(t, fake);
  await ask({ type: "subscribe_events", event_type: "entity_registry_updated" });
  const { id } = await ask({ type: "subscribe_entities" });
  const told = () =>
    frames
      .filter((each) => each["type"] === "event" && each["id"] === id)
      .map((each) => each["event"]);
  const entities = new Entities();

  fake.set("light.simple", "on", { friendly_name: "Cellar", color_mode: "onoff" });
  fake.change("light.sofa", { brightness: 20 });
  fake.set("sensor.new", "1");
  fake.rename("light.sofa", "light.couch");
  await until(() => told().length >= 6);

  assert.deepEqual(
    told().flatMap((event) => faults("entities", event)),
    [],
  );
  assert.deepEqual(told().slice(1, 3).map(withoutTimes), [
    {
      c: {
        "light.simple": {
          "+": { s: "on", a: { color_mode: "onoff" } },
          "-": { a: ["supported_color_modes"] },
        },
      },
    },
    { c: { "light.sofa": { "+": { a: { brightness: 20 } } } } },
  ]);
  const registry = frames.filter((each) => each["type"] === "event" && each["id"] !== id);
  assert.equal(registry.length, 1);
  assert.deepEqual(faults("event", registry[0]), []);
  assert.deepEqual(faults("registry_updated", registry[0]?.["event"]), []);
  for (const event of told()) entities.apply(event);
  assert.equal(entities.dropped, 0);
  assert.deepEqual(
    Object.fromEntries([...entities.all()].map(({ id: key, state }) => [key, state])),
    Object.fromEntries([...fake.entities].map(([key, { state }]) => [key, state])),
  );
});

test("a session of Home Assistant has its shape, and becomes states", () => {
  assert.deepEqual(
    session.events.flatMap((event) => faults("entities", event)),
    [],
  );
  const entities = new Entities();
  const [first, ...others] = session.events;
  entities.apply(first);

  const before = statesIn(entities);
  assert.deepEqual(before, {
    "light.sofa": {
      kind: "light",
      on: true,
      brightness: 50,
      colorTemperature: 2_702,
      color: null,
    },
    "light.hall": { kind: "light", on: false },
    "sensor.outside_temperature": { kind: "sensor", temperature: -3.4 },
    "binary_sensor.back_door": { kind: "binary-sensor", contact: true },
    "cover.blind": { kind: "cover", position: 70, action: "stopped" },
    "climate.bedroom": {
      kind: "thermostat",
      mode: "heat",
      action: "heating",
      temperature: 19.8,
      targetTemperature: 21,
    },
    "switch.kettle": before["switch.kettle"],
  });

  const after = others.map((event) => {
    entities.apply(event);
    return statesIn(entities);
  });

  assert.equal(entities.dropped, 0);
  assert.deepEqual(after.map((states) => states["light.sofa"]).slice(0, 2), [
    { kind: "light", on: true, brightness: 20, colorTemperature: 2_702, color: null },
    { kind: "light", on: false },
  ]);
  assert.deepEqual(after.at(-1), {
    "light.sofa": { kind: "light", on: false },
    "light.hall": { kind: "light", on: true, brightness: 100 },
    "sensor.outside_temperature": { kind: "sensor", temperature: null },
    "binary_sensor.back_door": { kind: "binary-sensor", contact: false },
    "cover.blind": { kind: "cover", position: 0, action: "stopped" },
    "switch.kettle": { kind: "switch", on: false },
  });
});

test("a light tells a colour or a white, by the mode in which it shines", () => {
  const attributes = {
    supported_color_modes: ["color_temp", "hs"],
    brightness: 255,
    color_temp_kelvin: 2_702,
    hs_color: [28.4, 65.8],
  };
  const stateIn = (color_mode: string) => {
    const entities = new Entities();
    entities.apply({ a: { "light.a": { s: "on", a: { ...attributes, color_mode } } } });
    return statesIn(entities)["light.a"];
  };

  const shared = { kind: "light", on: true, brightness: 100 };
  assert.deepEqual(stateIn("color_temp"), { ...shared, colorTemperature: 2_702, color: null });
  const color = { hue: 28.4, saturation: 65.8 };
  assert.deepEqual(stateIn("hs"), { ...shared, colorTemperature: null, color });
});

/** The entities as devices, without those that are not shown. */
function statesIn(entities: Entities): Record<string, object> {
  return Object.fromEntries(
    [...entities.all()].flatMap((entity) => {
      const domain = domainOf(entity.domain);
      if (!domain) return [];
      const { kind, state } = viewOf(domain, entity, "°C");
      return [[entity.id, { kind, ...state }]];
    }),
  );
}

/** A change without its time and its context. */
function withoutTimes(event: unknown): unknown {
  return JSON.parse(JSON.stringify(event), function (key, value: unknown) {
    return ["lc", "lu"].includes(key) || (key === "c" && typeof value === "string")
      ? undefined
      : value;
  });
}

async function connect(t: TestContext, fake: FakeHomeAssistant, token = fake.token) {
  const socket = new WebSocket(`${fake.url.replace("http", "ws")}/api/websocket`);
  t.after(() => socket.terminate());
  const frames: Frame[] = [];
  socket.on("message", (data: RawData) => {
    const told = JSON.parse((data as Buffer).toString()) as Frame | Frame[];
    frames.push(...[told].flat());
  });
  await until(() => frames.length > 0);
  socket.send(JSON.stringify({ type: "auth", access_token: token }));
  await until(() => frames.length > 1);
  let lastId = 0;
  const ask = async (message: object): Promise<Frame> => {
    const id = ++lastId;
    socket.send(JSON.stringify({ id, ...message }));
    return until(() => frames.find((each) => each["id"] === id));
  };
  return { frames, ask };
}
