import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { mountOnPage } from "../../helpers/page/widget.ts";

type Context = WidgetContext<Record<never, never>, unknown>;
const SIZE = { default: [1, 1] } as const;
const OLD = { name: "Old", size: SIZE } as const;

test("a widget draws into a shadow root of its own, and its tile shows it when it is ready", (t) => {
  const { mounted, root } = mountOnPage(
    t,
    defineWidget({ name: "Note", size: SIZE, styles: "p { color: red }", mount: write("hello") }),
  );

  assert.equal(root.textContent, "hello");
  assert.equal(mounted.host.className, "widget waiting");
  assert.equal(mounted.host.isConnected, true);
  assert.equal(root.adoptedStyleSheets.length, 2);
  mounted.unmount();
  assert.equal(mounted.host.isConnected, false);
});

test("a widget that throws while it is mounted leaves nothing behind", (t) => {
  const fault = new Error("broken");
  let isReleased = false;
  const before = document.body.childElementCount;
  const broken = defineWidget({
    name: "Broken",
    size: SIZE,
    mount(_root, ctx) {
      ctx.onCleanup(() => (isReleased = true));
      throw fault;
    },
  });

  assert.throws(() => mountOnPage(t, broken), fault);
  assert.equal(document.body.childElementCount, before);
  assert.equal(isReleased, true);
});

test("a widget that reads ctx.kept does not mount, and the error has the new name", (t) => {
  const mount = (_: ShadowRoot, ctx: object) => void (ctx as { kept?: unknown }).kept;

  assert.throws(() => mountOnPage(t, { ...OLD, mount }), {
    message: "ctx.kept is now ctx.handedOver",
  });
});

test("a widget with keep() does not mount, and the error has the new name", (t) => {
  const mount = () => ({ keep: () => 1 }) as object;

  assert.throws(() => mountOnPage(t, { ...OLD, mount }), {
    message: "keep() is now handOver()",
  });
});

test("state is handed over to code of the same state version only", (t) => {
  const given: unknown[] = [];
  const counter = (stateVersion: number) =>
    defineWidget<Record<never, never>, number>({
      name: "Counter",
      size: SIZE,
      stateVersion,
      mount(_root, ctx) {
        given.push(ctx.handedOver);
        return { handOver: () => 5 };
      },
    });
  const { mounted } = mountOnPage(t, counter(2), { handedOver: 4 });

  mountOnPage(t, counter(3), { handedOver: 4, stateVersion: 2 });

  assert.deepEqual(mounted.handOver(), { stateVersion: 2, data: 5 });
  assert.deepEqual(given, [4, undefined]);
});

test("a widget without state hands nothing over", (t) => {
  const { mounted } = mountOnPage(t, defineWidget({ name: "Note", size: SIZE, mount: write("") }));

  assert.equal(mounted.handOver(), undefined);
});

test("an error while an effect first runs prevents mounting, and a later one is reported", (t) => {
  const count = signal(0);
  const faults = mountWith(t, (ctx) => {
    ctx.effect(() => {
      if (count.value > 0) throw new Error(`drawn ${count.value} times`);
    });
  }).faults;

  count.value = 1;

  assert.deepEqual(faults.map(String), ["Error: drawn 1 times"]);
  assert.throws(() => mountWith(t, (ctx) => ctx.effect(fail)), /failed/);
});

test("an effect cleans up before it runs again, and on unmount", (t) => {
  const count = signal(0);
  const cleaned: number[] = [];
  const widget = mountWith(t, (ctx) =>
    ctx.effect(() => {
      const { value } = count;
      return () => cleaned.push(value);
    }),
  );

  count.value = 1;
  widget.mounted.unmount();
  count.value = 2;

  assert.deepEqual(cleaned, [0, 1]);
});

test("a timer of whole seconds runs at full seconds, and another one after its time", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 300 });
  const ran: string[] = [];
  mountWith(t, (ctx) => {
    ctx.every(1_000, () => ran.push("second"));
    ctx.every(250, () => ran.push("quarter"));
  });

  t.mock.timers.tick(250);
  const early = [...ran];
  t.mock.timers.tick(450);

  assert.deepEqual(early, ["quarter"]);
  assert.deepEqual(ran, ["quarter", "quarter", "second"]);
});

test("a hidden widget's timer pauses and catches up once, unless it runs when hidden too", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  const ran: string[] = [];
  const { visible, mounted: widget } = mountWith(t, (ctx) => {
    ctx.every(1_000, () => ran.push("shown"));
    ctx.every(1_000, () => ran.push("always"), { whenHidden: true });
  });

  visible.value = false;
  t.mock.timers.tick(1_000);
  t.mock.timers.tick(1_000);
  const hidden = ran.splice(0);
  visible.value = true;
  const caughtUp = ran.splice(0);
  visible.value = false;
  visible.value = true;
  const again = ran.splice(0);
  widget.unmount();
  t.mock.timers.tick(1_000);

  assert.deepEqual(hidden, ["always", "always"]);
  assert.deepEqual([caughtUp, again, ran], [["shown"], [], []]);
});

test("errors in timers and listeners are reported, and listeners end on unmount", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  const target = new EventTarget();
  const NativeEvent = MessageEvent;
  const { faults, mounted: widget } = mountWith(t, (ctx) => {
    ctx.every(1_000, fail);
    ctx.on(target, "message", fail);
  });

  t.mock.timers.tick(1_000);
  target.dispatchEvent(new NativeEvent("message"));
  widget.unmount();
  target.dispatchEvent(new NativeEvent("message"));

  assert.deepEqual(faults.map(String), ["Error: failed", "Error: failed"]);
});

test("a widget reads from the host until it is unmounted", async (t) => {
  let context: Context | undefined;
  const { mounted: widget, api } = mountWith(t, (ctx) => (context = ctx), {
    "/photos": { photos: [] },
  });

  const answer = await context?.read("/photos");
  widget.unmount();

  assert.deepEqual(await answer?.json(), { photos: [] });
  assert.deepEqual(api.asked, ["GET /photos"]);
  assert.equal(context?.signal.aborted, true);
});

test("a widget speaks the language of the home, and its log names its tile", (t) => {
  const written = (["info", "warn", "error"] as const).map((level) =>
    t.mock.method(console, level, () => undefined),
  );
  let said = "";
  const { mounted: widget } = mountOnPage(
    t,
    defineWidget({
      name: "Note",
      size: SIZE,
      settings: { name: s.text({ title: "Name", default: "Mia" }) },
      mount(_root, ctx) {
        said = ctx.t("Hello {name}", { name: ctx.settings.value.name });
        ctx.log.info("a");
        ctx.log.warn("b", 1);
        ctx.log.error("c");
        assert.deepEqual([ctx.instance, ctx.version], ["tile", "hash"]);
      },
    }),
  );

  assert.equal(said, "Hello Mia");
  assert.deepEqual(
    written.map(({ mock }) => mock.calls[0]?.arguments),
    [
      ["[tile]", "a"],
      ["[tile]", "b", 1],
      ["[tile]", "c"],
    ],
  );
  widget.unmount();
});

test("the widget's own unmount runs first, and everything else although it throws", (t) => {
  t.mock.method(console, "error", () => undefined);
  const released: string[] = [];
  const { mounted: widget } = mountOnPage(
    t,
    defineWidget({
      name: "Note",
      size: SIZE,
      mount(_root, ctx) {
        ctx.onCleanup(() => released.push("cleanup"));
        return {
          unmount() {
            released.push("unmount");
            fail();
          },
        };
      },
    }),
  );

  widget.unmount();

  assert.deepEqual(released, ["unmount", "cleanup"]);
  assert.equal(widget.host.isConnected, false);
});

function mountWith(t: TestContext, use: (ctx: Context) => void, answers = {}) {
  const widget = defineWidget({ name: "Test", size: SIZE, mount: (_root, ctx) => use(ctx) });
  return mountOnPage(t, widget, { answers });
}

function write(text: string) {
  return (root: ShadowRoot): void => root.append(text);
}

function fail(): never {
  throw new Error("failed");
}
