import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { deviceOf } from "../../../helpers/device.ts";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { overlaySession } from "../../../helpers/page/overlay-session.ts";

const { html, render } = await import("lit");
const { effect } = await import("@preact/signals-core");
const { SettingsSearch } = await import("../../../../host/dashboard/settings/search.ts");

const LAMP = deviceOf({ id: "demo:light:1", kind: "light", name: "Desk lamp", room: "Study" });

const moduleOf = (paths: readonly string[]) =>
  ({ id: "hue", name: "Philips Hue", kinds: ["bridge"], permissions: { paths } }) as never;

function open(t: TestContext, mayAdminister = true) {
  const { store } = overlaySession(new FakeApi(), [LAMP]);
  store.replaceModules([moduleOf([])]);
  const search = new SettingsSearch({ store, mayAdminister });
  const root = document.createElement("nav");
  document.body.append(root);
  const stop = effect(() => void render(html`${search.inputView()} ${search.resultsView()}`, root));
  t.after(() => {
    stop();
    root.remove();
  });
  const input = root.querySelector("input");
  assert.ok(input);
  const seek = (text: string): void => {
    input.value = text;
    input.dispatchEvent(new Event("input"));
  };
  const press = (key: string) => input.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const results = () =>
    Array.from(root.querySelectorAll("a"), (link) => [
      link.getAttribute("href"),
      link.textContent.replace(/\s+/g, " ").trim(),
    ]);
  return { root, store, search, seek, press, results };
}

test("pages, single settings, devices and modules are found by a part of their names", (t) => {
  const { root, search, seek, results } = open(t);
  assert.equal(search.isActive, false);

  seek("time z");
  assert.deepEqual(results(), [["#/settings/general", "Time zone General"]]);
  assert.equal(root.querySelector("mark")?.textContent, "Time z");
  seek("study");
  assert.deepEqual(results(), [
    ["#/settings/devices/demo%3Alight%3A1", "Desk lamp Devices, Study"],
  ]);
  seek("philips");
  assert.equal(results()[0]?.[0], "#/settings/modules/hue");
  seek("rooms");
  assert.equal(results()[0]?.[0], "#/settings/rooms");

  assert.equal(search.isActive, true);
});

test("a page that needs a path of the API is found only while a plugin serves it", (t) => {
  const { store, seek, results } = open(t);
  const found = () => results().filter(([address]) => address === "#/settings/photos").length;

  seek("pictures");
  assert.equal(found(), 0);
  store.replaceModules([moduleOf(["/photos"])]);
  seek("pictures ");
  assert.equal(found(), 1);
});

test("an empty result is reported, Escape clears, and Enter opens the first result", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { root, search, seek, press } = open(t);
  const page = document.createElement("div");
  page.className = "settings";
  page.innerHTML = `<div data-setting="units"><select></select></div>`;
  document.body.append(page);
  t.after(() => page.remove());
  const row = page.querySelector("[data-setting]");
  assert.ok(row);
  Object.assign(row, { scrollIntoView: () => undefined });

  seek("zzz");
  assert.notEqual(root.querySelector("[role=status]")?.textContent.trim(), "");
  press("Escape");
  assert.equal(search.isActive, false);
  seek("units");
  press("Enter");
  t.mock.timers.tick(60);

  assert.equal(search.isActive, false);
  assert.equal(row.className, "found");
  t.mock.timers.tick(2_500);
  assert.equal(row.className, "");
});

test("without full access, what needs it is not found", (t) => {
  const found = (mayAdminister: boolean) => {
    const { seek, results } = open(t, mayAdminister);
    return ["accent", "backup", "plugins", "units"].map((text) => {
      seek(text);
      return results()[0]?.[0];
    });
  };

  assert.deepEqual(found(true), [
    "#/settings/general",
    "#/settings/backup",
    "#/settings/plugins",
    "#/settings/general",
  ]);
  assert.deepEqual(found(false), [undefined, undefined, undefined, "#/settings/general"]);
});
