import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import type { Scene } from "@mantel/plugin-sdk/scene";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { effect } = await import("@preact/signals-core");
const { render } = await import("lit");
const { ApiError } = await import("../../../../host/dashboard/api.ts");
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

const NIGHT: Scene = { ...EVENING, id: "host:scene:night", name: "Night" };
const AWAY: Scene = { ...EVENING, id: "demo:scene:1", name: "Away", source: "demo-home" };
const ORDER = "/smart-home/scenes/order";

/** A host that lists these scenes in the stored order, and refuses an order for another revision. */
class SceneApi extends FakeApi {
  readonly put: { path: string; body: unknown }[] = [];

  /** Someone else orders the scenes. */
  reorder(scenes: readonly Scene[]): void {
    const { revision } = this.listed;
    this.answers["/smart-home/scenes"] = { scenes, revision: revision + 1 };
  }

  get listed(): { scenes: readonly Scene[]; revision: number } {
    return this.answers["/smart-home/scenes"] as ReturnType<() => typeof this.listed>;
  }

  override async change(_method: string, path: string, change: unknown): Promise<never> {
    assert.equal(path, ORDER);
    const { body, revision } = change as { body: { scenes: string[] }; revision: number };
    this.asked.push(`PUT ${path}`);
    if (revision !== this.listed.revision) {
      throw new ApiError(412, { code: "revision_stale", detail: "changed by another request" });
    }
    const byId = new Map(this.listed.scenes.map((scene) => [scene.id, scene]));
    this.reorder(body.scenes.flatMap((id) => byId.get(id) ?? []));
    return structuredClone(this.listed) as never;
  }

  override async send(_method: string, path: string, body?: unknown): Promise<never> {
    this.put.push({ path: decodeURIComponent(path), body });
    return undefined as never;
  }
}

/** The page with the scene Evening, which switches a lamp on, or with other scenes. */
async function openPage(t: TestContext, scenes: readonly Scene[] = [EVENING]) {
  const store = new Store();
  t.mock.method(store, "device", () => ({ value: LAMP, peek: () => LAMP }));
  const api = new SceneApi({ "/smart-home/scenes": { scenes, revision: 1 } });
  const formAction = new FormAction();
  const page = scenesPage({ api, store, formAction, mayAdminister: true });
  const root = document.createElement("div");
  document.body.append(root);
  const stop = effect(() => void render([formAction.notice(), page.view()], root));
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

/** The names of the scenes in the order of the page. */
const namesIn = (root: HTMLElement): string[] =>
  [...(root.querySelector("ul.rows")?.children ?? [])].map(
    (row) => row.querySelector("strong")?.textContent ?? "",
  );

const buttonsOf = (root: HTMLElement): string[] =>
  [...root.querySelectorAll(".moves button")].map((each) => each.getAttribute("aria-label") ?? "");

test("a scene moves by one place, the focus stays, and the new place is announced", async (t) => {
  const { root, click } = await openPage(t, [EVENING, NIGHT, AWAY]);
  const buttons = buttonsOf(root);
  const focused = () => document.activeElement?.getAttribute("aria-label");

  click("Move Away up");
  await until(() => namesIn(root).join() === "Evening,Away,Night");
  await until(() => focused() === "Move Away up");
  const status = root.querySelector("[role=status]")?.textContent.trim();
  click("Move Away up");
  await until(() => namesIn(root).join() === "Away,Evening,Night");
  await until(() => focused() === "Move Away down");

  assert.deepEqual(buttons, [
    "Move Evening down",
    "Move Night up",
    "Move Night down",
    "Move Away up",
  ]);
  assert.equal(status, "Away: place 2 of 3");
});

test("a single scene cannot be moved", async (t) => {
  const { root } = await openPage(t);

  assert.deepEqual(buttonsOf(root), []);
});

test("a move while someone else orders the scenes keeps both changes", async (t) => {
  const { api, root, click } = await openPage(t, [EVENING, NIGHT, AWAY]);
  api.reorder([AWAY, EVENING, NIGHT]);

  click("Move Night up");
  await until(() => namesIn(root).join() === "Away,Night,Evening");

  const puts = api.asked.filter((each) => each === `PUT ${ORDER}`);
  assert.equal(puts.length, 2);
  assert.equal(root.querySelector("[role=status]")?.textContent.trim(), "Night: place 2 of 3");
});

test("a move that the host does not store is reported, and the order stays", async (t) => {
  const { api, root, click } = await openPage(t, [EVENING, NIGHT]);
  t.mock.method(api, "change", () =>
    Promise.reject(new ApiError(507, { code: "disk_full", detail: "the disk is full" })),
  );

  click("Move Evening down");
  await until(() => root.querySelector("[role=alert]")?.textContent.includes("the disk is full"));

  assert.deepEqual(namesIn(root), ["Evening", "Night"]);
});
