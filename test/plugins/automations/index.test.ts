import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { homeNotify, MantelError, provide } from "@mantel/plugin-sdk";
import { startPlugin, type TestHostOptions } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/automations/index.ts";
import * as routes from "../../../plugins/automations/routes.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { LOAD, until } from "../../helpers/until.ts";

const DOOR = {
  id: "demo:binary-sensor:1",
  name: "Front door",
  state: { contact: true },
};
const LAMP = { id: "demo:light:1", name: "Hall lamp", state: { on: false } };
const WELCOME = {
  name: "Welcome light",
  triggers: [{ type: "state", device: DOOR.id, field: "contact", to: false }],
  actions: [{ type: "command", device: LAMP.id, command: { on: true } }],
};

async function open(t: TestContext, options: TestHostOptions = {}) {
  const running = await startPlugin(plugin, { home: { devices: [DOOR, LAMP] }, ...options });
  t.after(() => running.stop().catch(() => undefined));
  const create = async (document: object = WELCOME) => {
    const answer = await running.request(routes.create, { body: document });
    return answer.json as { id: string; revision: number };
  };
  return { ...running, request: running.request.bind(running), create, running };
}

test("a new document is answered with its id and address, and runs at once", async (t) => {
  const { request, home } = await open(t);

  const answer = await request(routes.create, { body: WELCOME });
  await home.change(DOOR.id, { contact: false });
  await until(() => home.commands.length > 0);

  assert.equal(answer.status, 201);
  assert.deepEqual(answer.headers, { location: "/api/v1/automations/welcome-light", etag: '"1"' });
  assert.deepEqual(answer.json, {
    ...WELCOME,
    enabled: true,
    mode: "single",
    conditions: [],
    id: "welcome-light",
    kind: "document",
    revision: 1,
  });
  assert.deepEqual(home.commands[0]?.by, {
    automation: { id: "welcome-light", name: "Welcome light" },
    parent: { kind: "device", id: DOOR.id, name: DOOR.name },
  });
});

test("calendars are read further ahead while an automation waits for reminders", async (t) => {
  const { home, create } = await open(t);
  const spans: number[] = [];
  t.mock.method(home, "listHomeEvents", async ({ start, end }: { start: string; end: string }) => {
    spans.push(Math.round((Date.parse(end) - Date.parse(start)) / 86_400_000));
    return { events: [], sources: [], truncated: false, complete: true };
  });
  const actions = [{ type: "notify", message: "{trigger.title}" }];
  const withEdge = (edge: string) => ({
    ...{ name: edge, actions },
    triggers: [{ type: "calendar", calendar: "*", edge }],
  });

  await create(withEdge("end"));
  await until(() => spans.length === 1);
  await create(withEdge("reminder"));
  await until(() => spans.length === 2);

  assert.deepEqual(spans, [16, 48]);
});

test("a change needs the present revision, and earlier revisions can be stored again", async (t) => {
  const { request, create } = await open(t);
  const { id } = await create();
  const put = (name: string, ifMatch: string) =>
    request(routes.replace, {
      params: { id },
      body: { ...WELCOME, name },
      headers: { "if-match": ifMatch },
    });

  assert.equal((await put("Evening", '"1"')).headers?.["etag"], '"2"');
  await assert.rejects(put("Night", '"1"'), { code: "revision_stale", status: 412 });
  const restored = await request(routes.restore, { params: { id, revision: "1" } });
  const { json } = await request(routes.history, { params: { id } });

  assert.equal((restored.json as { name: string; revision: number }).name, "Welcome light");
  assert.deepEqual(
    (json as { revisions: { revision: number; name: string }[] }).revisions.map(
      ({ revision, name }) => [revision, name],
    ),
    [
      [3, "Welcome light"],
      [2, "Evening"],
      [1, "Welcome light"],
    ],
  );
});

test("a wrong document is refused with each fault at its place, and nothing is stored", async (t) => {
  const { request } = await open(t);
  const body = {
    name: "",
    colour: "red",
    mode: "twice",
    triggers: [
      { type: "time", at: "25:00" },
      { type: "cron", expression: "0 0 30 2 *" },
      { type: "magic" },
      { type: "state", device: "a" },
    ],
    conditions: [{ type: "any", of: [{ type: "sun", is: "green" }] }],
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
    actions: [{ type: "if", conditions: [], then: [{ type: "wait", ms: -1 }] }],
  };

  const refused = await request(routes.create, { body: body }).catch((error: unknown) => error);

  assert.ok(refused instanceof MantelError);
  assert.equal(refused.code, "invalid");
  assert.deepEqual(refused.extras.errors?.map(({ pointer }) => pointer).toSorted(), [
    "/actions/0/then/0/ms",
    "/colour",
    "/conditions/0/of/0/is",
    "/mode",
    "/name",
    "/triggers/0/at",
    "/triggers/1/expression",
    "/triggers/2/type",
    "/triggers/3/field",
  ]);
  const { json } = await request(routes.list);
  assert.deepEqual(json, { automations: [], paused: null });
});

test("documents within the limits are accepted, and larger ones are refused", async (t) => {
  const { request } = await open(t);
  const post = (document: object) =>
    request(routes.create, { body: { name: "Big", triggers: [], ...document } });
  const nested = (levels: number): object =>
    levels === 0 ? { type: "sun", is: "up" } : { type: "all", of: [nested(levels - 1)] };
  const many = (count: number, part: object) => Array.from({ length: count }, () => part);
  const start = { type: "start" };
  const wait = { type: "wait", ms: 1 };

  await post({ conditions: [nested(7)] });
  await assert.rejects(post({ conditions: [nested(8)] }), { code: "invalid" });
  await assert.rejects(post({ conditions: [nested(2_000)] }), { code: "invalid" });
  await post({ triggers: many(50, start) });
  await assert.rejects(post({ triggers: many(51, start) }), { code: "invalid" });
  await post({ actions: many(200, wait) });
  await assert.rejects(post({ actions: many(201, wait) }), { code: "invalid" });
});

test("an automation of a device that is not in the home is accepted, and the list says so", async (t) => {
  const { request, create, home } = await open(t);
  const device = "demo:light:9";
  await create({ ...WELCOME, actions: [{ type: "command", device, command: { on: true } }] });
  const errorOf = async () => {
    const { json } = await request(routes.list);
    return (json as { automations: { error: string | null }[] }).automations[0]?.error;
  };

  assert.equal(await errorOf(), `the device ${device} is not in this home`);
  await home.add({ id: device, name: "New lamp" });
  assert.equal(await errorOf(), null);
});

test("a run that waits continues in the next generation", async (t) => {
  const storage = await emptyFolder(t);
  const first = await open(t, { storage });
  const wait = { type: "wait", ms: Math.round(400 * LOAD) };
  await first.create({ ...WELCOME, actions: [wait, ...WELCOME.actions] });
  await first.home.change(DOOR.id, { contact: false });
  const handedOver = structuredClone(await first.running.stop());
  assert.equal(first.home.commands.length, 0);

  const second = await open(t, { storage, handedOver });
  await until(() => second.home.commands.length === 1, { withinMs: 10_000 });
});

test("runs are published while they run, and traces are kept", async (t) => {
  const { request, create, home, published } = await open(t);
  const { id } = await create();

  await home.change(DOOR.id, { contact: false });
  await until(() => (published["run"] as { result?: string } | undefined)?.result === "completed");

  const { json } = await request(routes.traces, { params: { id } });
  const [trace] = (json as { traces: { actions: object[] }[] }).traces;
  const [{ request: asked, ...action } = { request: undefined }] = (trace?.actions ?? []) as {
    request?: unknown;
  }[];
  assert.deepEqual(published["run"], { ...trace, actions: [action] });
  assert.deepEqual(asked, { type: "command", device: LAMP.id, command: { on: true } });
});

test("a message goes to the plugin that delivers messages, and without one the action fails", async (t) => {
  const sent: unknown[] = [];
  const notify = { ...WELCOME, actions: [{ type: "notify", message: "open", to: "Mara" }] };
  const services = [provide(homeNotify, async (message) => void sent.push(message))];
  const first = await open(t, { services });
  const { id } = await first.create(notify);
  await first.request(routes.run, { params: { id } });
  await until(() => sent.length > 0);
  assert.deepEqual(sent, [{ message: "open", to: ["Mara"], from: "Welcome light" }]);

  const second = await open(t);
  await second.create(notify);
  await second.request(routes.run, { params: { id } });
  const resultOf = async () => {
    const { json } = await second.request(routes.traces, { params: { id } });
    return (json as { traces: { result: string }[] }).traces[0]?.result;
  };
  await until(async () => (await resultOf()) === "failed");
});

test("all automations can be paused for a time", async (t) => {
  const { request, create, home } = await open(t);
  const { id } = await create();

  const { json } = await request(routes.pause, { body: { forMs: 7_200_000 } });
  await home.change(DOOR.id, { contact: false });
  assert.ok((json as { paused: { until: string } }).paused.until > new Date().toISOString());
  assert.equal(home.commands.length, 0);
  assert.deepEqual((await request(routes.pause, { body: {} })).json, { paused: { until: null } });
  assert.deepEqual((await request(routes.resume)).json, { paused: null });
  await request(routes.disable, { params: { id } });
  await home.change(DOOR.id, { contact: true });
  await home.change(DOOR.id, { contact: false });

  assert.equal(home.commands.length, 0);
});

test("one automation can be paused for a time and resumed earlier, without a new revision", async (t) => {
  const { request, create, home } = await open(t);
  const { id } = await create();
  const viewOf = async () => {
    const { json } = await request(routes.list);
    const [view] = (json as { automations: { enabled: boolean; offUntil?: string }[] }).automations;
    return view;
  };

  const { json } = await request(routes.disable, { params: { id }, body: { forMs: 7_200_000 } });
  const stored = json as { enabled: boolean; revision: number };
  assert.deepEqual([stored.enabled, stored.revision], [true, 1]);
  const off = await viewOf();
  assert.equal(off?.enabled, false);
  assert.ok((off?.offUntil ?? "") > new Date().toISOString());
  await home.change(DOOR.id, { contact: false });
  await home.change(DOOR.id, { contact: true });
  await request(routes.enable, { params: { id } });
  const on = await viewOf();
  assert.deepEqual([on?.enabled, on?.offUntil], [true, undefined]);
  assert.equal(home.commands.length, 0);
  await home.change(DOOR.id, { contact: false });
  await until(() => home.commands.length === 1);

  await request(routes.disable, { params: { id } });
  await assert.rejects(request(routes.disable, { params: { id }, body: { forMs: 1_000 } }), {
    code: "conflict",
  });
});

test("a webhook starts automations at a secret address", async (t) => {
  const { request, create, home } = await open(t);
  await create({ ...WELCOME, triggers: [{ type: "webhook", name: "parcel" }] });

  const answer = await request(routes.called, { params: { name: "parcel" } });
  await until(() => home.commands.length > 0);

  assert.equal(answer.status, 204);
  await assert.rejects(request(routes.called, { params: { name: "letter" } }), {
    code: "not_found",
  });
});

test("the body of a webhook is in the trace: JSON and forms as data, others as text", async (t) => {
  const { request, create } = await open(t);
  const { id } = await create({ ...WELCOME, triggers: [{ type: "webhook", name: "parcel" }] });
  const json = "application/json; charset=utf-8";
  const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
  const bodies: [string, string, unknown][] = [
    ['{"from": {"name": "Ann"}}', json, { from: { name: "Ann" } }],
    ["{broken", json, "{broken"],
    [deep, json, deep],
    ["x".repeat(20_000), json, "x".repeat(10_000)],
    ["a=1&b=%C3%BC", "application/x-www-form-urlencoded", { a: "1", b: "ü" }],
    ["ring", "", "ring"],
    ["", json, undefined],
  ];

  for (const [content, contentType, expected] of bodies) {
    const bytes = Buffer.from(content);
    await request(routes.called, { params: { name: "parcel" }, bytes, contentType });
    const answer = await request(routes.traces, { params: { id } });
    const [last] = (answer.json as { traces: { trigger: { event: { body?: unknown } } }[] }).traces;
    assert.deepEqual(last?.trigger.event.body, expected);
  }
});

test("a deleted automation is gone with its runs, and its id is free again", async (t) => {
  const { request, create } = await open(t);
  const { id } = await create();
  assert.equal((await create()).id, "welcome-light-2");

  await request(routes.remove, { params: { id }, headers: { "if-match": '"1"' } });

  await assert.rejects(request(routes.read, { params: { id } }), { code: "not_found" });
  await assert.rejects(request(routes.traces, { params: { id } }), { code: "not_found" });
  assert.equal((await create()).id, id);
});

test("a simulation in a home that is made up shows what would happen, and commands nothing", async (t) => {
  const { request, home } = await open(t);
  const span = { from: "2026-06-10T00:00:00Z", to: "2026-06-11T00:00:00Z" };

  const { json } = await request(routes.simulated, {
    body: { document: WELCOME, source: "demo", ...span },
  });

  const { runs, timeline } = json as {
    runs: { result: string }[];
    timeline: { kind: string }[];
  };
  assert.ok(runs.length >= 5);
  assert.ok(runs.every(({ result }) => result === "completed"));
  assert.ok(timeline.some(({ kind }) => kind === "command"));
  assert.equal(home.commands.length, 0);
});
