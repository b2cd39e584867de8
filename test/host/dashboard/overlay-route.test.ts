import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { FakeApi } from "../../helpers/page/fake-api.ts";
import "../../helpers/page/light-dom.ts";
import { moduleServing, overlaySession } from "../../helpers/page/overlay-session.ts";
import { until } from "../../helpers/until.ts";

const { html, render } = await import("lit");
const { followOverlays, overlayLinks } = await import("../../../host/dashboard/overlay-route.ts");

test("the header links to the settings, and to the pages that a plugin serves", () => {
  const session = overlaySession(new FakeApi());
  const hrefs = (): (string | null)[] => {
    const root = document.createElement("div");
    render(html`${overlayLinks(session)}`, root);
    return Array.from(root.querySelectorAll("a"), (link) => link.getAttribute("href"));
  };
  const without = hrefs();

  session.store.replaceModules([moduleServing("/automations", "/logbook")]);

  assert.deepEqual(without, ["#/settings"]);
  assert.deepEqual(hrefs(), ["#/automations", "#/logbook", "#/settings"]);
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

test("one page in place of the dashboard follows another", async (t) => {
  const { frame, root, go, jump } = follow(t, "#/settings/about");
  await until(() => frame.querySelector(".settings") !== null);

  jump("#/logbook");
  await until(() => frame.querySelector(".logbook") !== null);
  const shown = [frame.querySelector(".settings"), root.hidden];

  assert.deepEqual(shown, [null, true]);
  await until(() => frame.textContent.includes("no plugin keeps one"));
  jump("#/automations");
  await until(() => frame.textContent.includes("no plugin offers them"));
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
  const { mock: added } = t.mock.method(globalThis, "addEventListener");
  followOverlays(root, overlaySession(new FakeApi()));
  for (const { arguments: listener } of added.calls) {
    t.after(() => removeEventListener(...listener)); // else the settings would follow the addresses of later tests
  }
  added.restore();
  const page = () => frame.querySelector<HTMLElement>("main")?.dataset.page;
  const jump = (to: string): void => {
    history.replaceState(null, "", `/${to}`);
    window.dispatchEvent(new Event("hashchange"));
  };
  const go = async (to: string): Promise<void> => {
    const shown = to.startsWith("#/settings/") ? to.slice("#/settings/".length) : undefined;
    jump(to);
    await until(
      () =>
        page() === (shown && decodeURIComponent(shown)) &&
        (frame.querySelector("main") === null) === (shown === undefined),
    );
  };
  return { frame, root, page, go, jump };
}
