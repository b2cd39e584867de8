import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { json } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { eventsIn } from "../../../plugins/hue/client-events.ts";
import { actionOf } from "../../../plugins/hue/convert-button.ts";
import { lightBody } from "../../../plugins/hue/convert-light.ts";
import { describe } from "../../../plugins/hue/convert.ts";
import { PinnedAgent } from "../../../plugins/hue/pinned-agent.ts";
import { Resources } from "../../../plugins/hue/resources.ts";
import { type FakeAnswer, startHueBridge } from "../../fakes/hue-bridge.ts";
import type { FakeEvent } from "../../fakes/hue-events.ts";
import { type FakeResource, home, idOf, newerServices } from "../../fakes/hue-home.ts";
import session from "../../fixtures/hue/session.json" with { type: "json" };
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { shapeFaults } from "../../helpers/shape.ts";
import { until } from "../../helpers/until.ts";
import { answerFaults, eventFaults, OPENHUE, resourceFaults } from "./openhue.ts";

const LIGHT = idOf("lamp-1-light-0");

test("the resources of the session and of the fake bridge are as OpenHue describes them", async (t) => {
  const { bridge, get, answers } = await startBridge(t);
  const all = [...bridge.resources.values()];

  await get("/clip/v2/resource");
  for (const type of new Set(all.map((each) => each.type))) await get(`/clip/v2/resource/${type}`);
  for (const { id, type } of all) await get(`/clip/v2/resource/${type}/${id}`);

  assert.ok(answers.length > all.length);
  assert.deepEqual(answers.flatMap(answerFaults), []);
  assert.deepEqual(resourceFaults(session.resources), []);
});

test("the events of the session and of the fake bridge are as OpenHue describes them", async (t) => {
  const { bridge, open } = await startBridge(t);
  const stream = await open("GET", "/eventstream/clip/v2");
  const events = eventsIn(stream);
  await events.next();
  const [extra] = session.resources as readonly FakeResource[];
  assert.ok(extra);

  bridge.change(LIGHT, { on: { on: true }, dimming: { brightness: 40 } });
  bridge.add(extra);
  bridge.remove(idOf("lamp-2-light-0"));
  const { value } = await events.next();

  assert.ok(value);
  const told = value.data as FakeEvent[];
  assert.deepEqual(
    told.map(({ type }) => type),
    ["update", "add", "delete"],
  );
  assert.deepEqual(eventFaults(told), []);
  assert.deepEqual(session.events.flatMap(eventFaults), []);
});

test("the fake bridge carries out what the plugin sends, and both are as OpenHue describes it", async (t) => {
  const { bridge, open } = await startBridge(t);
  const stream = await open("GET", "/eventstream/clip/v2");
  const events = eventsIn(stream);
  await events.next();
  const light = { type: "light", ...bridge.resources.get(LIGHT), id: LIGHT };
  const requests: [shape: string, path: string, body: object][] = [
    ["lightPut", `light/${LIGHT}`, lightBody(light, { on: true, brightness: 55 })],
    ["lightPut", `light/${LIGHT}`, lightBody(light, { colorTemperature: 2_700 })],
    ["lightPut", `light/${LIGHT}`, lightBody(light, { color: { hue: 20, saturation: 90 } })],
    ["lightPut", `light/${LIGHT}`, lightBody(light, { effect: "candle" })],
    [
      "groupedLightPut",
      `grouped_light/${idOf("room-1-lights")}`,
      lightBody(undefined, { brightness: 20 }),
    ],
  ];

  for (const [shape, path, body] of requests) {
    assert.deepEqual(shapeFaults(OPENHUE, shape, body), []);
    await put(open, path, body);
    const { value } = await events.next();
    assert.deepEqual(eventFaults(value?.data as FakeEvent[]), []);
  }

  assert.deepEqual(resourceFaults([...bridge.resources.values()]), []);
});

for (const [type, shape, body] of [
  ["scene", "scenePut", { recall: { action: "active" } }],
  ["smart_scene", "smartScenePut", { recall: { action: "activate" } }],
] as const) {
  test(`the fake bridge tells of a ${type} as OpenHue describes it`, async (t) => {
    const { bridge, open } = await startBridge(t);
    assert.deepEqual(shapeFaults(OPENHUE, shape, body), []);

    const stream = await open("GET", "/eventstream/clip/v2");
    const events = eventsIn(stream);
    await events.next();
    await put(open, `${type}/${idOf(type === "scene" ? "scene-1" : "scene-2")}`, body);
    const { value } = await events.next();

    assert.deepEqual(eventFaults(value?.data as FakeEvent[]), []);
    assert.deepEqual(resourceFaults([...bridge.resources.values()]), []);
  });
}

test("refusals and pairing of the fake bridge are as OpenHue describes them", async (t) => {
  const { bridge, get, open, answers } = await startBridge(t);
  const ask = async (method: string, path: string, body?: object, key?: string) =>
    json(await open(method, path, body, key));

  await get("/clip/v2/resource/light/none");
  await get("/clip/v2/resource", "not-its-key");
  await ask("GET", "/eventstream/clip/v2", undefined, "not-its-key");
  await ask("PUT", "/clip/v2/resource/light/none", { on: { on: true } });
  await ask("PUT", `/clip/v2/resource/light/${idOf("plug-1-light-0")}`, { color: {} });
  bridge.change(idOf("lamp-1-radio"), { status: "connectivity_issue" });
  await ask("PUT", `/clip/v2/resource/light/${LIGHT}`, { on: { on: true } });
  bridge.fault = "busy";
  await get("/clip/v2/resource");
  bridge.fault = "throttling";
  await get("/clip/v2/resource");
  bridge.fault = undefined;
  const refused = await ask("POST", "/api", { devicetype: "mantel#test" });
  bridge.pressButton();
  const paired = await ask("POST", "/api", { devicetype: "mantel#test" });

  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 403, 403, 404, 400, 207, 503, 429, 200, 200],
  );
  assert.deepEqual(answers.flatMap(answerFaults), []);
  for (const each of [refused, paired]) assert.equal((each as unknown[]).length, 1);
});

test("a session of a bridge becomes devices and scenes, and its events change their state", () => {
  const resources = new Resources();
  resources.replace(session.resources);
  const before = shown(resources);

  const { "Hall strip": strip, ...others } = before.devices;
  assert.deepEqual(strip, {
    kind: "light",
    room: "Hall",
    on: false,
    brightness: 30,
    effect: "no_effect",
    colorTemperature: null,
    color: strip?.["color"],
  });
  assert.ok(strip?.["color"], "a mirek of null is a colour");
  assert.deepEqual(others, {
    "Kitchen ceiling": { kind: "light", on: false, brightness: 100, colorTemperature: 2_890 },
    "Coffee maker": { kind: "plug", on: false },
    "Bed switch": {
      kind: "button",
      room: "Hall",
      lastAction: "button_1_short_release",
      battery: 100,
    },
    "Sofa dial": { kind: "button", lastAction: "rotate_clockwise", battery: 7 },
    "Porch sensor": {
      kind: "sensor",
      motion: false,
      temperature: -3.25,
      illuminance: 10,
      battery: 64,
    },
    "Back door": { kind: "binary-sensor", contact: false, tamper: false, battery: 91 },
    Hall: { ...others["Hall"], kind: "group", room: "Hall", on: false, brightness: 0 },
    Downstairs: { ...others["Downstairs"], kind: "group", on: false, brightness: 0 },
    "All lights": { ...others["All lights"], kind: "group", on: false, brightness: 0 },
  });
  assert.deepEqual(before.scenes, [
    ["Evening", "Downstairs", ["Hall strip", "Kitchen ceiling"]],
    ["Day and night", "Hall", []],
  ]);

  const actions = session.events.flatMap((events) =>
    events.flatMap((event) =>
      resources.apply(event).flatMap(({ told }) => actionOf(resources.get(told.id))?.name ?? []),
    ),
  );

  const { devices } = shown(resources);
  assert.equal(resources.dropped, 0);
  assert.deepEqual(actions, ["button_2_initial_press", "rotate_counterclockwise"]);
  assert.deepEqual(
    [devices["Hall strip"]?.["colorTemperature"], devices["Hall strip"]?.["color"]],
    [2_732, null],
  );
  assert.equal(devices["Hall"]?.["on"], true);
  assert.equal(devices["Kitchen ceiling"]?.["available"], false);
  assert.deepEqual(devices["Back door"], {
    kind: "binary-sensor",
    contact: true,
    tamper: true,
    battery: 91,
  });
  assert.deepEqual(
    [devices["Porch sensor"]?.["motion"], devices["Porch sensor"]?.["temperature"]],
    [true, -2.9],
  );
  assert.equal(devices["Coffee maker"], undefined);
});

/** Devices by name, with their state beside kind and room, and scenes with room and targets. */
function shown(resources: Resources) {
  const { devices, scenes } = describe("001788fffe123456", resources);
  const names = new Map(devices.map(({ nativeId, name }) => [nativeId, name]));
  const fields = devices.map(({ name, kind, room, available, state }) => {
    const more = { ...(room ? { room } : {}), ...(available === false ? { available } : {}) };
    return [name, { kind, ...more, ...state }] as const;
  });
  return {
    devices: Object.fromEntries<Record<string, unknown>>(fields),
    scenes: scenes.map(({ name, room, targets }) => [
      name,
      room,
      Object.keys(targets ?? {}).map((id) => names.get(id)),
    ]),
  };
}

async function startBridge(t: TestContext) {
  const answers: FakeAnswer[] = [];
  const resources = [...home(), ...newerServices()];
  const onAnswer = (answer: FakeAnswer) => void answers.push(answer);
  const bridge = await startHueBridge(t, { resources, onAnswer });
  const agent = new PinnedAgent({ id: bridge.id, fingerprint: bridge.fingerprint });
  onTestEnd(t, async () => agent.destroy());
  const [host, port] = bridge.address.split(":");
  const open = async (method: string, path: string, body?: object, key = bridge.key) => {
    const headers = { "hue-application-key": key };
    const asked = request({ agent, host, port, path, method, headers });
    asked.on("error", () => undefined).end(body && JSON.stringify(body));
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return response.on("error", () => undefined);
  };
  const get = async (path: string, key?: string) => {
    const response = await open("GET", path, undefined, key);
    return { status: response.statusCode, body: await json(response) };
  };
  return { bridge, open, get, answers };
}
type Open = Awaited<ReturnType<typeof startBridge>>["open"];

/** Sends a change, again while the bridge has too many. */
async function put(open: Open, path: string, body: object): Promise<void> {
  const { status, answer } = await until(async () => {
    const response = await open("PUT", `/clip/v2/resource/${path}`, body);
    const taken = { status: response.statusCode, answer: await json(response) };
    return taken.status !== 429 && taken;
  });
  assert.deepEqual([status, shapeFaults(OPENHUE, "answer", answer)], [200, []]);
}
