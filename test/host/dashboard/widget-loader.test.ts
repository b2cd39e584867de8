import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import "../../helpers/page/light-dom.ts";
import { Scope } from "../../../host/dashboard/scope.ts";

const { WidgetLoader } = await import("../../../host/dashboard/widget-loader.ts");

const URL = "/widgets/clock.js";
const WIDGET = "{ default: { name: 'Clock', size: {}, mount() {} } }";

test("the code of a URL is loaded once for all tiles that use it at the same time", async (t) => {
  const requested = serve(t, { [URL]: define(WIDGET) });
  const loader = new WidgetLoader();

  const [first, second] = await Promise.all([loader.acquire(URL), loader.acquire(URL)]);
  loader.release(URL);
  const third = await loader.acquire(URL);

  assert.equal(first, second);
  assert.equal(first, third);
  assert.equal(first.hash, "1f");
  assert.deepEqual(requested, [URL]);
});

test("code that no tile uses is released, and loaded again when one does", async (t) => {
  const requested = serve(t, { [URL]: define(WIDGET) });
  const loader = new WidgetLoader();
  await loader.acquire(URL);

  loader.release(URL);
  loader.release("/widgets/unknown.js");
  await loader.acquire(URL);

  assert.deepEqual(requested, [URL, URL]);
});

test("each tile has its own copy of the code, with the libraries of the dashboard", async (t) => {
  serve(t, {
    [URL]: define(`{ default: {
      name: "Clock", mount() {},
      lit: typeof require("lit").html, repeat: typeof require("lit/directives/repeat.js").repeat,
      signal: typeof require("@preact/signals-core").signal, sdk: typeof require("@mantel/plugin-sdk/widget").defineWidget
    } }`),
  });
  const code = await new WidgetLoader().acquire(URL);
  const globals = new Scope().globals;

  const widget = code.instantiate(globals);

  const { name: _name, mount: _mount, ...libraries } = widget as unknown as Record<string, unknown>;
  assert.deepEqual(libraries, {
    lit: "function",
    repeat: "function",
    signal: "function",
    sdk: "function",
  });
  assert.notEqual(code.instantiate(globals), widget);
});

test("a library that the dashboard does not have is named", async (t) => {
  serve(t, { [URL]: define('require("react")') });
  const code = await new WidgetLoader().acquire(URL);

  assert.throws(() => code.instantiate(new Scope().globals), /the dashboard has no library react/);
});

test("a name that the SDK does not export is refused, with a suggestion", async (t) => {
  serve(t, { [URL]: define('require("@mantel/plugin-sdk/widget").defineWidgt({})') });
  const code = await new WidgetLoader().acquire(URL);

  assert.throws(
    () => code.instantiate(new Scope().globals),
    /"@mantel\/plugin-sdk\/widget" does not export defineWidgt; did you mean defineWidget\?/,
  );
});

test("code that exports no widget says what to do", async (t) => {
  for (const exported of ["{}", "{ default: {} }", "{ default: null }", "{ default: 'clock' }"]) {
    serve(t, { [URL]: define(exported) });
    const code = await new WidgetLoader().acquire(URL);

    assert.throws(() => code.instantiate(new Scope().globals), /clock does not export a widget/);
  }
});

test("a script that cannot be loaded, or that defines nothing, is refused", async (t) => {
  serve(t, { "/widgets/empty.js": "" });
  const loader = new WidgetLoader();

  await assert.rejects(loader.acquire("/widgets/absent.js"), /could not load its code/);
  await assert.rejects(loader.acquire("/widgets/empty.js"), /the script defined no widget/);
  assert.equal(document.head.querySelector("script"), null);
});

test("code that runs outside of a widget's script defines nothing", (t) => {
  const factory = t.mock.fn(() => ({}));

  mantelDefine("clock", "1f", factory);

  assert.equal(factory.mock.callCount(), 0);
});

/** Runs scripts as a browser does. Returns the URLs that were requested. */
function serve(t: TestContext, scripts: Readonly<Record<string, string>>): string[] {
  const requested: string[] = [];
  t.mock.method(document.head, "append", (script: HTMLScriptElement) => {
    const url = script.getAttribute("src") ?? "";
    requested.push(url);
    const code = scripts[url];
    queueMicrotask(() => {
      if (code === undefined) return void script.dispatchEvent(new Event("error"));
      const current = { configurable: true, get: () => script };
      Object.defineProperty(document, "currentScript", current);
      // oxlint-disable-next-line typescript/no-implied-eval -- as a browser runs a script
      new Function(code)();
      Reflect.deleteProperty(document, "currentScript");
      script.dispatchEvent(new Event("load"));
    });
  });
  return requested;
}

function define(exported: string): string {
  return `mantelDefine("clock", "1f", (require, globals) => (${exported}));`;
}
