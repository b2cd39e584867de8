import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Store } from "../../../host/dashboard/store.ts";
import { FakeApi } from "../../helpers/page/fake-api.ts";
import "../../helpers/page/light-dom.ts";
import { until } from "../../helpers/until.ts";

const { render } = await import("lit");
const { followSettings, settingsLink } = await import("../../../host/dashboard/settings-route.ts");

test("the link in the header leads to the settings", () => {
  const root = document.createElement("div");

  render(settingsLink(), root);

  assert.equal(root.querySelector("a")?.getAttribute("href"), "#/settings/modules");
});

test("the settings are shown in place of the dashboard while the address points to them", async (t) => {
  const { root, page, go } = follow(t, "#home");
  await go("#home");
  const before = [page(), root.hidden];

  await go("#/settings/about");
  const open = [page(), root.hidden];
  await go("#/settings/modules/of%20this");
  const other = page();
  await go("#home");

  assert.deepEqual(before, [undefined, false]);
  assert.deepEqual(open, ["about", true]);
  assert.deepEqual(other, "modules/of this");
  assert.deepEqual([page(), root.hidden], [undefined, false]);
});

test("settings that are in the address when the page opens are shown at once", async (t) => {
  const { page, go } = follow(t, "#/settings/about");

  await until(() => page() === "about");

  assert.equal(document.title, "About · Mantel");
  await go("#home");
});

function follow(t: TestContext, hash: string) {
  t.mock.method(console, "warn", () => undefined);
  history.replaceState(null, "", `/${hash}`);
  const frame = document.createElement("div");
  const root = document.createElement("div");
  frame.append(root);
  document.body.append(frame);
  t.after(() => frame.remove());
  followSettings(root, { api: new FakeApi(), store: new Store() });
  const page = () => frame.querySelector<HTMLElement>("main")?.dataset.page;
  const go = async (to: string): Promise<void> => {
    const shown = to.startsWith("#/settings/") ? to.slice("#/settings/".length) : undefined;
    history.replaceState(null, "", `/${to}`);
    window.dispatchEvent(new Event("hashchange"));
    await until(() => page() === (shown && decodeURIComponent(shown)));
  };
  return { root, page, go };
}
