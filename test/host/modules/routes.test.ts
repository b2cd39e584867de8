import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";

const LOG = `
import { definePlugin, defineRoute, handle, MantelError, Type } from "@mantel/plugin-sdk";
const read = defineRoute({
  method: "GET", path: "/entries/:name", scope: "read", summary: "Read", response: Type.Object({ name: Type.String() }),
});
const pushed = defineRoute({ method: "POST", path: "/pushed", scope: "public", summary: "Push", raw: true, secretInPath: true });
export default definePlugin({
  start: ({ routes }) => ({
    routes: [
      handle(read, ({ params }) => {
        const { name } = params as { name: string };
        if (name === "none") throw new MantelError("not_found", "there is no entry none");
        if (name === "fault") throw new Error("the key is 1234");
        return { json: name === "wrong" ? (5 as never) : { name } };
      }),
      handle(pushed, async ({ bytes }) => ({ content: bytes.length + " " + (await routes.url(pushed)), type: "text/plain" })),
    ],
  }),
});
`;

test("a plugin's routes answer through its process, and end with it", async (t) => {
  const log = { "package.json": packageJson("garden-log"), "index.ts": LOG };
  const { registry } = await startModules(t, { "garden-log": log });
  const [plugin = assert.fail()] = registry.routed();
  const [read = assert.fail(), pushed = assert.fail()] = plugin.routes;
  const call = { params: {}, query: {}, body: undefined, contentType: "", headers: {} };
  const ask = (name: string) =>
    plugin.answer(read, { ...call, route: "GET /entries/:name", params: { name } });

  assert.equal((await ask("rose")).body?.toString(), '{"name":"rose"}');
  await assert.rejects(ask("none"), { code: "not_found", message: "there is no entry none" });
  for (const name of ["fault", "wrong"]) {
    await assert.rejects(ask(name), {
      code: "internal",
      message: "the route GET /entries/:name of garden-log failed; see the log of garden-log",
    });
  }
  const said = registry.logs("garden-log").map(({ fields }) => String(fields?.["error"]));
  assert.ok(said.some((each) => each.includes("1234")));
  assert.ok(said.some((each) => each.includes('does not fit "response"')));
  const bytes = Buffer.from("abc");
  const answer = await plugin.answer(pushed, { ...call, route: "POST /pushed", bytes });
  assert.match(
    answer.body?.toString() ?? "",
    /^3 \/api\/v1\/plugins\/garden-log\/hooks\/[\w-]{32}\/pushed$/,
  );

  await registry.disable("garden-log");
  assert.deepEqual(registry.routed(), []);
});
