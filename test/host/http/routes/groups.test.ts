import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import { DeviceOverrides } from "../../../../host/devices/overrides.ts";
import { collectedLog } from "../../../helpers/collected-log.ts";
import { json, serveApp } from "../serve-app.ts";

const LEVEL = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const lamp = (nativeId: string, change: Partial<DeviceDescription> = {}): DeviceDescription => ({
  nativeId,
  kind: "light",
  name: nativeId,
  capabilities: { on: { type: "boolean" }, brightness: LEVEL },
  state: { on: true },
  ...change,
});

async function serveLamps(t: TestContext) {
  const app = await serveApp(t);
  await app.devices.publish("demo", [
    lamp("one", { groups: ["Upstairs"] }),
    lamp("two"),
    lamp("fan", {
      kind: "fan",
      capabilities: { on: { type: "boolean" } },
      groups: ["Upstairs"],
    }),
  ]);
  const [one = "", two = "", fan = ""] = app.devices.list().map(({ id }) => id);
  const ask = async (scope: "read" | "control" | "edit", path: string, init?: RequestInit) => {
    const response = await app.api(scope, path, init);
    const text = await response.text();
    return {
      status: response.status,
      body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
  };
  const put = (id: string, body: object) => ask("edit", `/groups/${id}`, json("PUT", body));
  const groupsOf = (id: string) => app.devices.get(id).groups;
  return { ...app, one, two, fan, ask, put, groupsOf };
}

test("a group of a bridge has its name as id, and its devices", async (t) => {
  const { ask, one, fan } = await serveLamps(t);
  const upstairs = { id: "Upstairs", name: "Upstairs", devices: [one, fan] };

  assert.deepEqual((await ask("read", "/groups")).body["groups"], [upstairs]);
  assert.deepEqual(await ask("read", "/groups/Upstairs"), { status: 200, body: upstairs });
  assert.equal((await ask("read", "/groups/nothing")).body["code"], "group_unknown");
});

test("a group of a bridge whose name is the id of another group gets a number behind it", async (t) => {
  const { put, ask, devices, one, two, groupsOf } = await serveLamps(t);
  await put("Evening", { name: "Evening lamps", devices: [] });

  await devices.publish("demo", [
    lamp("one", { groups: ["Evening"] }),
    lamp("two", { groups: ["Evening 2"] }),
  ]);

  const listed = (await ask("read", "/groups")).body["groups"] as { id: string; name: string }[];
  assert.deepEqual(
    listed.map(({ id, name }) => [id, name]),
    [
      ["Evening 3", "Evening"],
      ["Evening 2", "Evening 2"],
      ["Evening", "Evening lamps"],
    ],
  );
  assert.equal((await ask("read", "/groups/Evening%203")).body["name"], "Evening");
  await put("Evening%203", { name: "Dusk", devices: [one, two] });
  assert.deepEqual([groupsOf(one), groupsOf(two)], [["Dusk"], ["Evening 2", "Dusk"]]);
});

test("a group that is made is a name on its devices, and keeps its id under another name", async (t) => {
  const { put, ask, one, two, groupsOf, data } = await serveLamps(t);

  const made = await put("evening", { name: "Evening lamps", devices: [two, one] });
  assert.deepEqual(made, {
    status: 200,
    body: { id: "evening", name: "Evening lamps", devices: [one, two] },
  });
  assert.deepEqual(groupsOf(one), ["Upstairs", "Evening lamps"]);

  const renamed = await put("evening", { name: "Night", devices: [two] });
  assert.deepEqual(renamed.body, { id: "evening", name: "Night", devices: [two] });
  assert.deepEqual([groupsOf(one), groupsOf(two)], [["Upstairs"], ["Night"]]);
  const stored = await DeviceOverrides.open(`${data}/device-wishes.json`, collectedLog());
  assert.deepEqual([...stored.groupNames], [["evening", "Night"]]);
  assert.deepEqual(await ask("read", "/groups/evening"), { status: 200, body: renamed.body });
});

test("a group without devices stays until it is removed, and its devices stay then", async (t) => {
  const { put, ask, one, groupsOf } = await serveLamps(t);
  await put("evening", { devices: [] });
  assert.deepEqual((await ask("read", "/groups/evening")).body["devices"], []);
  assert.equal(
    (await ask("control", "/groups/evening/command", json("POST", { on: true }))).status,
    409,
  );
  await put("evening", { devices: [one] });

  assert.equal((await ask("edit", "/groups/evening", { method: "DELETE" })).status, 204);
  assert.equal((await ask("edit", "/groups/evening", { method: "DELETE" })).status, 404);
  assert.equal((await ask("edit", "/groups/Upstairs", { method: "DELETE" })).status, 204);

  assert.deepEqual(groupsOf(one), []);
  assert.deepEqual((await ask("read", "/groups")).body["groups"], []);
});

test("changes at the same time lose none of each other's", async (t) => {
  const { one, groupsOf, devices } = await serveLamps(t);
  const put = (name: string) => devices.groups.put(name, { name, devices: [one] });

  await Promise.all([
    put("evening"),
    put("night"),
    devices.adjust(one, { name: "First" }),
    put("party"),
  ]);

  assert.deepEqual(groupsOf(one), ["Upstairs", "evening", "night", "party"]);
  assert.equal(devices.get(one).name, "First");
});

test("a refused group changes nothing", async (t) => {
  const { put, ask, one, groupsOf } = await serveLamps(t);

  const unknown = await put("evening", { devices: [one, "demo:light:99", 5, "demo:light:98"] });
  assert.deepEqual(
    (unknown.body["errors"] as { pointer: string }[]).map(({ pointer }) => pointer),
    ["/devices/2"],
  );
  const missing = await put("evening", { devices: [one, "demo:light:99"] });
  assert.deepEqual(
    (missing.body["errors"] as { pointer: string }[]).map(({ pointer }) => pointer),
    ["/devices/1"],
  );
  assert.equal((await put("evening", { name: "Upstairs", devices: [] })).body["code"], "conflict");
  assert.equal((await put("%20", { devices: [] })).status, 400);
  const reading = await ask("read", "/groups/evening", json("PUT", { devices: [] }));
  assert.equal(reading.body["code"], "insufficient_scope");

  assert.deepEqual(groupsOf(one), ["Upstairs"]);
  assert.equal((await ask("read", "/groups/evening")).status, 404);
});

test("a command for a group goes to each device that takes it, or of a kind", async (t) => {
  const { ask, one, fan } = await serveLamps(t);
  const command = (body: object, query = "") =>
    ask("control", `/groups/Upstairs/command${query}`, json("POST", body));
  const idsOf = (body: Record<string, unknown>) =>
    (body["results"] as { deviceId: string }[]).map(({ deviceId }) => deviceId);

  const both = await command({ on: false });
  assert.deepEqual([both.status, both.body["status"]], [200, "ok"]);
  assert.deepEqual(idsOf(both.body), [one, fan]);
  assert.equal((both.body["cause"] as { kind: string }).kind, "token");
  assert.deepEqual(idsOf((await command({ on: true }, "?kind=fan")).body), [fan]);
  assert.equal((await command({ on: true }, "?kind=lock")).status, 409);
});
