import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ModuleView } from "../../host/api/module.ts";
import type { AuditRecord } from "../../host/auth/audit.ts";
import { openBrowser } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { type Fixture, visitSettings } from "../helpers/settings.ts";
import { until } from "../helpers/until.ts";

const WIDGET = `import { defineWidget } from "@mantel/plugin-sdk/widget";
export default defineWidget({
  name: "Sign", size: { default: [2, 2] }, mount: ({ parent }) => void parent.append("TEXT"),
});
`;

test("an update that asks for more permissions", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/demo-home", "plugins/system"] });
  const fixture: Fixture = { browser: await openBrowser(t), host };
  await until(async () => (await host.api("/health/ready")).ok, { withinMs: 20_000 });

  await t.test(
    "waits in the settings, with its permissions described, until a user consents",
    (each) => isAllowed(each, fixture),
  );
  await t.test(
    "needs an admin over HTTP, who consents only to the shown permissions, and is recorded",
    () => isLetIn(host),
  );
  await t.test("also waits if the plugin is only a widget", () => widgetWaits(host));
});

async function isAllowed(t: TestContext, fixture: Fixture): Promise<void> {
  const { host } = fixture;
  const before = await read(host, "system");
  const page = await visitSettings(t, fixture, "modules/system");
  await page.getByRole("heading", { name: "System" }).waitFor();

  await ask(host, "system", { hosts: ["metrics.example.org"] });

  await page.getByRole("heading", { name: "Needs more permissions" }).waitFor();
  await page.getByText("connect to metrics.example.org", { exact: true }).waitFor();
  const waiting = await read(host, "system");
  assert.deepEqual([waiting.state, waiting.generation], ["active", before.generation]);
  await host.api("/config", { method: "PATCH", json: { ui: { locale: "de" } } });
  await page.getByText("sich mit metrics.example.org verbinden").waitFor();
  await host.api("/config", { method: "PATCH", json: { ui: { locale: "en" } } });
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("status").getByText("Allowed").waitFor();
  await page
    .getByText("connect to metrics.example.org", { exact: true })
    .waitFor({ state: "detached" });

  const after = await read(host, "system");
  assert.equal(after.consent, null);
  assert.ok(after.permissions.hosts.includes("metrics.example.org"));
}

async function isLetIn(host: TestHost): Promise<void> {
  await ask(host, "demo-home", { hosts: ["b.example.org"] });
  const { consent } = await waiting(host, "demo-home");
  assert.deepEqual(consent?.needed, ["connect to b.example.org"]);
  const post = (path: string, json: unknown = {}, scope: "admin" | "edit" = "admin") =>
    host.api(`/modules/demo-home/${path}`, { method: "POST", json, scope });

  const refused = await post("reload");
  assert.equal(refused.status, 409);
  const { code, needed } = (await refused.json()) as { code: string; needed: string[] };
  assert.deepEqual([code, needed], ["consent_needed", consent?.needed]);
  assert.equal((await post("consent", {}, "edit")).status, 403);
  const other = await post("consent", { needed: ["connect to a.example.org"] });
  assert.equal(other.status, 409);
  assert.equal((await post("consent", { more: 1 })).status, 422);
  const given = await post("consent", { needed: consent?.needed });

  assert.equal(given.status, 200);
  const { granted, reload, module } = (await given.json()) as {
    granted: string[];
    reload: { result: string };
    module: ModuleView;
  };
  assert.deepEqual([granted, reload.result], [consent?.needed, "reloaded"]);
  assert.equal(module.consent, null);
  const { records } = (await (await host.api("/audit")).json()) as { records: AuditRecord[] };
  const record = records.find(({ action }) => action === "module.consent");
  assert.deepEqual([record?.["module"], record?.["granted"]], ["demo-home", granted]);
}

async function widgetWaits(host: TestHost): Promise<void> {
  const folder = join(host.plugins, "sign");
  const manifest = (uses: string[]) =>
    JSON.stringify({
      name: "sign",
      version: "1.0.0",
      type: "module",
      mantel: { id: "sign", kinds: ["widget"], widget: "widget.ts", uses },
    });
  await mkdir(folder);
  await writeFile(join(folder, "widget.ts"), WIDGET);
  await writeFile(join(folder, "package.json"), manifest([]));
  const first = await until(async () => (await read(host, "sign")).widget, { withinMs: 20_000 });

  await writeFile(join(folder, "package.json"), manifest(["mqtt.publish"]));
  await waiting(host, "sign");
  await writeFile(join(folder, "widget.ts"), WIDGET.replace("TEXT", "other"));
  assert.equal((await host.api("/modules/sign/reload", { method: "POST" })).status, 409);
  assert.deepEqual((await read(host, "sign")).widget, first);
  assert.equal((await host.api("/modules/sign/consent", { method: "POST" })).status, 200);

  const { widget, consent } = await read(host, "sign");
  assert.equal(consent, null);
  assert.notEqual(widget?.hash, first.hash);
}

const read = async (host: TestHost, id: string): Promise<ModuleView> =>
  (await (await host.api(`/modules/${id}`)).json()) as ModuleView;

const waiting = (host: TestHost, id: string) =>
  until(
    async () => {
      const view = await read(host, id);
      return view.consent && view;
    },
    { withinMs: 10_000 },
  );

/** Has the plugin on the disk ask for these permissions besides. */
async function ask({ plugins }: TestHost, id: string, permissions: object): Promise<void> {
  const file = join(plugins, id, "package.json");
  const content = JSON.parse(await readFile(file, "utf8")) as { mantel: { permissions?: object } };
  const mantel = {
    ...content.mantel,
    permissions: { ...content.mantel.permissions, ...permissions },
  };
  await writeFile(file, JSON.stringify({ ...content, mantel }));
}
