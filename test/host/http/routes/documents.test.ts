import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { demoModules, json, serveApp } from "../serve-app.ts";

test("a patch of the config is answered with what changed, and with its new ETag", async (t) => {
  const { api } = await serveApp(t);

  const response = await api("edit", "/config", json("PATCH", { ui: { theme: "dark" } }));

  const { changed, revision } = (await response.json()) as { changed: string[]; revision: number };
  assert.equal(response.status, 200);
  assert.deepEqual(changed, ["ui.theme"]);
  assert.equal(response.headers.get("etag"), `"${revision}"`);
});

test("keys outside the allowlist need the admin scope, and the refusal names them", async (t) => {
  const { api, config } = await serveApp(t);
  const patch = json("PATCH", { server: { hosts: ["mantel.local"] }, ui: { theme: "dark" } });

  const refused = await api("edit", "/config", patch);
  const unchanged = config.current.ui.theme;
  const allowed = await api("admin", "/config", patch);

  const { code, keys } = (await refused.json()) as Record<string, unknown>;
  assert.deepEqual([refused.status, code, keys], [403, "config_key_not_allowed", ["server.hosts"]]);
  assert.equal(unchanged, "auto");
  assert.equal(allowed.status, 200);
});

test("a stale If-Match is 412 for config and layout, and changes nothing", async (t) => {
  const { api, parts } = await serveApp(t);
  const before = [parts.config.view().revision, parts.layout.current.revision];
  const stale = { "if-match": '"1"' };

  const answers = [
    await api("edit", "/config", json("PATCH", { ui: { theme: "dark" } }, stale)),
    await api("edit", "/layout", json("PUT", parts.layout.current, { "if-match": '"12345"' })),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [412, 412],
  );
  assert.deepEqual([parts.config.view().revision, parts.layout.current.revision], before);
});

test("a layout is replaced and restored", async (t) => {
  const { api, parts } = await serveApp(t);
  const { revision: first, ...content } = parts.layout.current;
  const headers = { "if-match": `"${first}"` };

  const put = await api("edit", "/layout", json("PUT", { ...content, name: "Evening" }, headers));
  const stored = (await put.json()) as { name: string; revision: number };
  const listed = await api("read", "/layout/history");
  const restored = await api("edit", `/layout/restore/${first}`, { method: "POST" });
  const unknown = await api("edit", "/layout/restore/99999", { method: "POST" });
  const malformed = await api("edit", "/layout/restore/last", { method: "POST" });

  assert.equal(stored.name, "Evening");
  assert.equal(put.headers.get("etag"), `"${stored.revision}"`);
  const { history } = (await listed.json()) as { history: { revision: number }[] };
  assert.deepEqual(
    history.map(({ revision }) => revision),
    [stored.revision, first],
  );
  assert.equal(((await restored.json()) as { name?: string }).name, content.name);
  assert.deepEqual([unknown.status, malformed.status], [404, 400]);
});

test("an invalid layout gives 422 with every fault", async (t) => {
  const { api, parts } = await serveApp(t);

  const response = await api(
    "edit",
    "/layout",
    json("PUT", { ...parts.layout.current, name: 5, pages: [{ id: "!" }], extra: true }),
  );

  const { errors } = (await response.json()) as { errors: { pointer: string }[] };
  assert.equal(response.status, 422);
  const pointers = errors.map(({ pointer }) => pointer);
  for (const pointer of ["/name", "/pages/0/id"]) assert.ok(pointers.includes(pointer), pointer);
});

test("actions of admins are recorded without their data", async (t) => {
  const { api, data } = await serveApp(t);
  const patch = { mqtt: { password: "canary-secret" } };

  await api("admin", "/config", json("PATCH", patch));
  await api("admin", "/modules/demo/disable", { method: "POST" });

  const audit = await readFile(join(data, "audit.log"), "utf8");
  const actions = audit
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);
  assert.deepEqual(
    actions.map((each) => ({ ...each, id: "", at: "", jti: "" })),
    [
      { id: "", at: "", jti: "", sub: "admin", action: "config.patch", keys: ["mqtt.password"] },
      { id: "", at: "", jti: "", sub: "admin", action: "module.disable", module: "demo" },
    ],
  );
  assert.ok(!audit.includes("canary"));
});

test("a change whose record cannot be kept is still answered as done, and logged", async (t) => {
  const failing = () => Promise.reject(new Error("no space"));
  const audit = { record: failing, read: failing };
  const { api, config, log } = await serveApp(t, { audit });

  const response = await api("edit", "/config", json("PATCH", { ui: { theme: "dark" } }));

  assert.deepEqual([response.status, config.current.ui.theme], [200, "dark"]);
  const lost = log.records.find(({ sentence }) => sentence === "could not store an audit record");
  assert.deepEqual(lost?.fields["keys"], ["ui.theme"]);
});

test("only an admin can change a module's options, and only objects are accepted", async (t) => {
  const { api, config } = await serveApp(t);
  config.registerOptions("demo", Type.Object({ lamps: Type.Integer({ default: 2 }) }));

  const refused = await api("admin", "/modules/demo/config", json("PATCH", null));
  const response = await api("admin", "/modules/demo/config", json("PATCH", { lamps: 5 }));

  assert.equal(refused.status, 422);
  assert.deepEqual(((await response.json()) as { changed: string[] }).changed, ["demo.lamps"]);
  assert.deepEqual(config.current["demo"], { lamps: 5 });
});

test("faults of a module's options have their location in the body", async (t) => {
  const { api, config } = await serveApp(t);
  const patch = json("PATCH", { lamps: "x", lamp: 1 });
  const faults = async () => {
    const response = await api("admin", "/modules/demo/config", patch);
    return ((await response.json()) as { errors: Fault[] }).errors;
  };
  const without = await faults();

  config.registerOptions("demo", Type.Object({ lamps: Type.Integer() }));
  const withOptions = await faults();

  assert.deepEqual(without, [{ pointer: "", detail: "is for a module without options" }]);
  assert.deepEqual(
    withOptions.map(({ pointer }) => pointer),
    ["/lamps", "/lamp"],
  );
});

test("options of an unknown module give 404", async (t) => {
  const { api } = await serveApp(t);

  const response = await api("admin", "/modules/nobody/config", json("PATCH", { on: true }));

  assert.equal(response.status, 404);
});

test("a failed reload reports the location and that the previous code continues", async (t) => {
  const location = { file: "index.ts", line: 3, column: 5, frame: "> 3 | let =" };
  const reload = () =>
    Promise.reject(
      new MantelError("reload_failed", "it does not parse", { rolledBack: true, location }),
    );
  const { api } = await serveApp(t, { modules: { ...demoModules(), reload } });

  const waited = await api("edit", "/modules/demo/reload", { method: "POST" });
  const left = await api("edit", "/modules/demo/reload?wait=false", { method: "POST" });
  const odd = await api("edit", "/modules/demo/reload?wait=maybe", { method: "POST" });

  const problem = (await waited.json()) as object;
  assert.equal(waited.status, 422);
  assert.deepEqual({ ...problem, ...location, location, rolledBack: true }, problem);
  assert.deepEqual([left.status, odd.status], [202, 422]);
});

test("readiness is 503 until every module has settled", async (t) => {
  let isSettled = false;
  const { api } = await serveApp(t, { modules: { ...demoModules(), settled: () => isSettled } });

  const before = await api("read", "/health/ready");
  isSettled = true;
  const after = await api("read", "/health/ready");

  assert.deepEqual(
    [before.status, before.headers.get("retry-after"), after.status],
    [503, "1", 200],
  );
});

for (const [counts, status] of [
  [{ active: 3, failed: 0 }, "pass"],
  [{ active: 2, failed: 1 }, "warn"],
  [{ active: 0, failed: 2 }, "fail"],
] as const) {
  test(`health is ${status} with ${counts.active} active and ${counts.failed} failed modules`, async (t) => {
    const { api } = await serveApp(t, { modules: { ...demoModules(), counts: () => counts } });

    const response = await api(null, "/health");

    const { uptimeSeconds, ...health } = (await response.json()) as Record<string, unknown>;
    assert.equal(response.status, 200);
    assert.deepEqual(health, { status, version: "0.0.0", modules: counts });
    assert.ok(Number.isInteger(uptimeSeconds));
  });
}
