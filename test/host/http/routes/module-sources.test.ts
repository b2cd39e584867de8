import assert from "node:assert/strict";
import { test } from "node:test";
import { demoModules, json, serveApp } from "../serve-app.ts";

test("a stored source file is answered with 201 and no body, and only an admin may send one", async (t) => {
  const { api } = await serveApp(t, { modules: demoModules() });
  const path = "/modules/demo/sources/hall-light.ts";
  const file = json("POST", { code: "export {};" });

  const refused = await api("edit", path, file);
  const stored = await api("admin", path, file);

  assert.equal(refused.status, 403);
  assert.deepEqual([stored.status, await stored.text()], [201, ""]);
});
