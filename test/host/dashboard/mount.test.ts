import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defineWidget } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import type { WidgetView } from "../../../host/api/module.ts";
import { ChannelSet } from "../../../host/dashboard/channels.ts";
import { Commands } from "../../../host/dashboard/commands.ts";
import { Store } from "../../../host/dashboard/store.ts";
import { WidgetContexts } from "../../../host/dashboard/widget-context.ts";
import type { AnyWidget, WidgetLoader } from "../../../host/dashboard/widget-loader.ts";
import { FakeApi } from "../../helpers/page/fake-api.ts";
import "../../helpers/page/light-dom.ts";

const { mountWidgetIn } = await import("../../../host/dashboard/mount.ts");

const WIDGET = { url: "/note.js", runsIn: "page", hash: "1" } as WidgetView;

test("a trusted widget is mounted in the page, with the state of the code before", async (t) => {
  const { mount, given, used, parent } = page(t);

  const mounted = await mount({ handOver: () => ({ stateVersion: 1, data: 5 }) });

  assert.deepEqual(given, [5]);
  assert.equal(parent.childElementCount, 1);
  mounted.unmount();
  assert.equal(parent.childElementCount, 0);
  assert.deepEqual(used, ["acquire", "release"]);
});

test("the state of a sandboxed widget does not leave its sandbox", async (t) => {
  const { mount, given } = page(t);
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());

  (await mount({ handOver: () => port1 })).unmount();

  assert.deepEqual(given, [undefined]);
});

test("code that was replaced before it was mounted is released", async (t) => {
  const { mount, parent, used } = page(t);
  const overtaken = new AbortController();

  const mounting = mount({ overtaken: overtaken.signal });
  overtaken.abort(new Error("overtaken"));

  await assert.rejects(mounting, /overtaken/);
  assert.equal(parent.childElementCount, 0);
  assert.deepEqual(used, ["acquire", "release"]);
});

test("code that cannot be loaded or mounted is released", async (t) => {
  const { mount, parent, used } = page(t, () => {
    throw new Error("broken");
  });

  await assert.rejects(mount({}), /broken/);
  assert.equal(parent.childElementCount, 0);
  assert.deepEqual(used, ["acquire", "release"]);
});

type Request = Parameters<typeof mountWidgetIn>[1];

function page(t: TestContext, onMount: () => void = () => undefined) {
  const given: unknown[] = [];
  const used: string[] = [];
  const note = defineWidget({
    name: "Note",
    size: { default: [1, 1] },
    mount(_root, ctx) {
      given.push(ctx.handedOver);
      onMount();
    },
  }) as unknown as AnyWidget;
  const loader = {
    async acquire() {
      used.push("acquire");
      return { hash: "1", instantiate: () => note };
    },
    release: () => void used.push("release"),
  };
  const api = new FakeApi();
  const store = new Store();
  const contexts = new WidgetContexts({
    api,
    store,
    channels: new ChannelSet(api, () => ({ timeZone: "UTC", calendarDays: 14 })),
    commands: new Commands(api, store, () => undefined),
    theme: signal("dark"),
    online: signal(true),
    timeZone: signal("UTC"),
    announce: () => undefined,
    openDetails: () => undefined,
    commandRoom: async () => ({ ok: true }),
  });
  const parent = document.createElement("div");
  document.body.append(parent);
  t.after(() => parent.remove());
  const mount = (request: Partial<Request>) =>
    mountWidgetIn(parent, {
      module: "clock",
      widget: WIDGET,
      loader: loader as unknown as WidgetLoader,
      instance: "tile",
      title: "Note",
      contexts,
      config: signal({}),
      size: signal({ cols: 1, rows: 1, width: 0, height: 0, shape: "icon" }),
      visible: signal(true),
      handOver: () => undefined,
      overtaken: new AbortController().signal,
      onUncaught: () => undefined,
      onFault: () => undefined,
      onLost: () => undefined,
      ...request,
    });
  return { mount, given, used, parent };
}
