import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { serveApp } from "../serve-app.ts";

test("anybody may read the texts of the dashboard; those of plugins need a token", async (t) => {
  const { url, data, api } = await serveApp(t);
  const pack = { dashboard: { shell: { pages: "Sidor" } }, plugins: { clock: { Clock: "Ur" } } };
  await writeFile(join(data, "languages/sv.json"), JSON.stringify(pack));

  const texts = await fetch(`${url}/api/v1/languages/sv-SE`);
  const etag = texts.headers.get("ETag") ?? "";
  const again = await fetch(`${url}/api/v1/languages/sv-SE`, {
    headers: { "If-None-Match": etag },
  });
  const refused = await fetch(`${url}/api/v1/languages/sv/plugins`);
  const ofPlugins = await api("read", "/languages/sv/plugins");
  const list = await api("read", "/languages");

  assert.deepEqual(((await texts.json()) as typeof pack).dashboard, pack.dashboard);
  assert.equal(again.status, 304);
  assert.equal(refused.status, 401);
  assert.deepEqual(await ofPlugins.json(), { plugins: pack.plugins });
  const { languages } = (await list.json()) as { languages: { language: string }[] };
  assert.ok(languages.some(({ language }) => language === "sv"));
});

test("a name that is not a language is refused", async (t) => {
  const { url } = await serveApp(t);

  for (const name of ["..%2Fauth", "SV", "a", "sv_SE"]) {
    assert.equal((await fetch(`${url}/api/v1/languages/${name}`)).status, 400, name);
  }
});
