import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { PluginView } from "../../../../host/api/plugin.ts";
import { type Answers, FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { effect } = await import("@preact/signals-core");
const { render } = await import("lit");
const { FormAction } = await import("../../../../host/dashboard/settings/form-action.ts");
const { pluginsPage } = await import("../../../../host/dashboard/settings/plugins-page.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");

/** Node's own forms do not read fields of a page. */
const { FormData: PageFormData } = document.defaultView as unknown as typeof globalThis;

const NEWS: PluginView = {
  id: "news",
  name: "mantel-plugin-news",
  title: "News",
  description: "Headlines",
  version: "1.1.0",
  source: "mantel-plugin-news",
  integrity: "sha512-abc",
  pinned: false,
  installedAt: "2026-11-20T10:00:00Z",
  previous: "1.0.0",
  latest: "1.2.0",
  outdated: true,
  permissions: { words: ["connect to news.example"], requested: [] },
  consent: null,
  running: "1.1.0",
  state: "active",
  error: null,
  rejected: null,
  scripts: { wanted: [], allowed: [] },
  readme: true,
  icon: true,
};

class PluginApi extends FakeApi {
  readonly deleted: string[] = [];

  override async delete(path: string): Promise<never> {
    this.deleted.push(path);
    return undefined as never;
  }

  override async open(path: string): Promise<Response> {
    this.asked.push(`GET ${path}`);
    return new Response("# Headlines\n\nOf **today**.");
  }
}

/** The page as it is drawn, with one installed plugin; `item` is the id of the plugin that is shown. */
async function openPage(
  t: TestContext,
  item: string,
  { plugin = NEWS, answers = {} }: { plugin?: PluginView; answers?: Answers } = {},
) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { FormData: ofNode } = globalThis;
  globalThis.FormData = PageFormData;
  t.after(() => (globalThis.FormData = ofNode));
  const api = new PluginApi({
    "/plugins": { plugins: [plugin], operations: [] },
    "/plugins?": { plugins: [plugin], operations: [] },
    ...answers,
  });
  const page = pluginsPage(
    { api, store: new Store(), formAction: new FormAction(), mayAdminister: true },
    item,
  );
  const root = document.createElement("div");
  document.body.append(root);
  const stop = effect(() => {
    render(page.view(), root);
  });
  t.after(() => {
    stop();
    root.remove();
  });
  t.after(() => page.close?.());
  await until(() => root.textContent.includes("News"));
  const text = () => root.textContent.replace(/\s+/g, " ");
  const click = (label: string): void => {
    const buttons = [...root.querySelectorAll("button")];
    const button = buttons.find(({ textContent }) => textContent.trim().startsWith(label));
    assert.ok(button, `there is a button ${label}`);
    button.click();
  };
  const submit = (name: string, value: string): void => {
    const input = root.querySelector<HTMLInputElement>(`[name=${name}]`);
    assert.ok(input);
    input.value = value;
    input.closest("form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  };
  return { api, root, text, click, submit };
}

test("plugins are listed, added by their source, and found in the registry", async (t) => {
  const other = { name: "mantel-plugin-tides", version: "2.0.0", description: "Tides" };
  const packages = [{ ...other, publisher: "anna", date: null, installed: null }];
  const { api, root, text, submit } = await openPage(t, "", {
    answers: { "/plugins/search?": { packages } },
  });

  assert.match(text(), /News 1\.1\.0 · mantel-plugin-news Update to 1\.2\.0/);
  assert.equal(root.querySelector("img")?.getAttribute("src"), "/api/v1/plugins/news/icon");
  submit("source", " https://example.test/news.tgz ");
  await until(() => api.posted.length === 1);
  await until(() => root.querySelector<HTMLButtonElement>("[disabled]") === null);
  submit("query", "tides");
  await until(() => text().includes("mantel-plugin-tides 2.0.0 · anna Tides"));
  await until(() => root.querySelector<HTMLButtonElement>("[disabled]") === null);
  const list = [...root.querySelectorAll("form")].at(-1);
  [...(list?.querySelectorAll("li button") ?? [])].forEach((each) => (each as HTMLElement).click());
  await until(() => api.posted.length === 2);

  assert.deepEqual(api.posted, [
    { source: "https://example.test/news.tgz" },
    { source: "mantel-plugin-tides" },
  ]);
  assert.ok(api.asked.includes("GET /plugins/search?q=tides"));
});

test("a plugin shows its README, is updated, and says which of its permissions wait for consent", async (t) => {
  const needed = ["connect to ads.example"];
  const permissions = [{ name: "hosts", value: "ads.example" }];
  const plugin = { ...NEWS, consent: { needed, permissions } };
  const { api, root, text, click } = await openPage(t, "news", {
    plugin,
    answers: {
      "/plugins/news/update": {},
      "/modules/news/consent": {},
    },
  });

  await until(() => root.querySelector(".readme strong")?.textContent === "today");
  assert.match(text(), /keeps running until you allow this.+ads\.example/);
  click("Update to 1.2.0");
  await until(() => api.asked.includes("POST /plugins/news/update"));
  await until(() => root.querySelector("[disabled]") === null);
  click("Allow");
  await until(() => api.asked.includes("POST /modules/news/consent"));

  assert.deepEqual(api.posted, [{}, { needed }]);
});

test("a plugin is removed after a second tap, alone or with options, secrets and storage", async (t) => {
  const { api, root, click } = await openPage(t, "news");

  click("Remove News");
  assert.deepEqual(api.deleted, []);
  const armed = (): HTMLButtonElement | null => root.querySelector("button.armed");
  armed()?.click();
  await until(() => api.deleted.length === 1);
  await until(() => root.querySelector("[disabled]") === null);
  click("Remove with options, secrets and storage");
  armed()?.click();
  await until(() => api.deleted.length === 2);

  assert.deepEqual(api.deleted, ["/plugins/news?purge=false", "/plugins/news?purge=true"]);
});
