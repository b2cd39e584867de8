import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import type { Scene } from "@mantel/plugin-sdk/scene";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { effect } = await import("@preact/signals-core");
const { render } = await import("lit");
const { FormAction } = await import("../../../../host/dashboard/settings/form-action.ts");
const { scenesPage } = await import("../../../../host/dashboard/settings/scenes-page.ts");
const { schemaOf } = await import("../../../../host/dashboard/settings/scene-editor.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");

const LAMP = {
  id: "demo:light:1",
  kind: "light",
  name: "Sofa lamp",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 1, max: 100, step: 1, unit: "%" },
    power: { type: "number", unit: "W", readOnly: true },
    effect: { type: "choice", values: ["none", "candle"] },
  },
  state: { on: true, brightness: 50 },
} as unknown as Device;

const EVENING: Scene = {
  id: "host:scene:evening",
  name: "Evening",
  room: null,
  icon: null,
  source: "host",
  available: true,
  targets: { "demo:light:1": { on: true, brightness: 40 } },
  lastActivatedAt: null,
};

class SceneApi extends FakeApi {
  readonly put: { path: string; body: unknown }[] = [];

  override async send(_method: string, path: string, body?: unknown): Promise<never> {
    this.put.push({ path: decodeURIComponent(path), body });
    return undefined as never;
  }
}

/** The page with the scene Evening, which switches a lamp on. */
async function openPage(t: TestContext) {
  const store = new Store();
  t.mock.method(store, "device", () => ({ value: LAMP, peek: () => LAMP }));
  const api = new SceneApi({ "/smart-home/scenes": { scenes: [EVENING], revision: 1 } });
  const page = scenesPage({ api, store, formAction: new FormAction() });
  const root = document.createElement("div");
  document.body.append(root);
  const stop = effect(() => void render(page.view(), root));
  t.after(() => {
    stop();
    root.remove();
  });
  await until(() => root.textContent.includes("Evening"));
  const click = (name: string): void => {
    const button = [...root.querySelectorAll("button")].find(
      (each) => (each.getAttribute("aria-label") ?? each.textContent.trim()) === name,
    );
    assert.ok(button, `there is a button ${name}`);
    button.click();
  };
  const change = (id: string, value: string, event: string): void => {
    const input = root.querySelector<HTMLInputElement>(`#${id}`);
    assert.ok(input, `there is an input ${id}`);
    input.value = value;
    if (input.type === "number")
      Object.defineProperty(input, "valueAsNumber", { value: Number(value) });
    input.dispatchEvent(new Event(event, { bubbles: true }));
  };
  return { api, root, click, change };
}

test("a scene gets another name, an icon and another brightness, under the same id", async (t) => {
  const { api, click, change } = await openPage(t);

  click("Edit Evening");
  change("scene-edited", "Late evening", "input");
  click("sofa");
  change("scene-demo-light-1-brightness", "70", "change");
  click("Save");
  await until(() => api.put.length === 1);

  assert.deepEqual(api.put[0], {
    path: "/smart-home/scenes/host:scene:evening",
    body: {
      name: "Late evening",
      icon: "mdi:sofa",
      targets: { "demo:light:1": { on: true, brightness: 70 } },
    },
  });
});

test("a copy of a scene has a name and an id of its own", async (t) => {
  const { api, click } = await openPage(t);

  click("Copy Evening");
  await until(() => api.put.length === 1);

  assert.deepEqual(api.put[0], {
    path: "/smart-home/scenes/host:scene:evening-copy",
    body: { name: "Evening (copy)", targets: EVENING.targets },
  });
});

test('a scene sets all settable values of a device, and only "off" of a device that it turns off', () => {
  const fieldsOf = (target: { on: boolean }) =>
    Object.keys(schemaOf(LAMP, target).properties ?? {});

  assert.deepEqual(fieldsOf({ on: true }), ["on", "brightness", "effect"]);
  assert.deepEqual(fieldsOf({ on: false }), ["on"]);
});
