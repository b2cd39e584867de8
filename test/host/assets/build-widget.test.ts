import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { runInNewContext } from "node:vm";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { buildWidget } from "../../../host/assets/build-widget.ts";
import { folderWith } from "../../helpers/folder.ts";

test("a widget's script defines a factory under its id and hash", async (t) => {
  const folder = await folderWith(t, {
    "widget.ts": "export default { name: 'Lamp' as string, mount: {} };",
  });

  const { code, hash } = await buildWidget({ id: "lamp-widget", folder, entry: "widget.ts" });

  const [defined] = run(code);
  assert.equal(defined?.id, "lamp-widget");
  assert.equal(defined?.hash, hash);
  assert.equal(JSON.stringify(defined?.factory().default), '{"name":"Lamp","mount":{}}');
});

test("shared libraries of the shell are not bundled", async (t) => {
  const folder = await folderWith(t, {
    "widget.ts": `
      import { html } from "lit";
      import { repeat } from "lit/directives/repeat.js";
      import { signal } from "@preact/signals-core";
      import { defineWidget } from "@mantel/plugin-sdk/widget";
      export default [html, repeat, signal, defineWidget];`,
  });

  const { code } = await buildWidget({ id: "x", folder, entry: "widget.ts" });

  const required: string[] = [];
  run(code)[0]?.factory((name) => (required.push(name), {}));
  assert.deepEqual(required, [
    "lit",
    "lit/directives/repeat.js",
    "@preact/signals-core",
    "@mantel/plugin-sdk/widget",
  ]);
});

test("LitElement is bundled where it is used, and its templates are those of the shell", async (t) => {
  const element = `
    import { LitElement, nothing } from "lit";
    export default [class extends LitElement { render() { return nothing; } }];`;
  const folder = await folderWith(t, {
    "widget.ts": element,
    "plain.ts": 'import { nothing } from "lit"; export default nothing;',
  });

  const built = await buildWidget({ id: "x", folder, entry: "widget.ts" });
  const plain = await buildWidget({ id: "x", folder, entry: "plain.ts" });

  const required: string[] = [];
  const [defined] = run(built.code, { HTMLElement: Object });
  const library = (name: string) => (required.push(name), {});
  assert.equal(typeof onlyEntry(defined?.factory(library).default), "function");
  assert.deepEqual([...new Set(required)], ["lit"]);
  assert.ok(plain.code.length < 1_000, `${plain.code.length} characters without LitElement`);
  assert.deepEqual(built.inputs, [join(folder, "widget.ts")]);
});

test("bare timers, listeners and fetches are the tile's own", async (t) => {
  const folder = await folderWith(t, {
    "widget.ts": `
      export default [() => {
        setTimeout(() => {}, 1); setInterval(() => {}, 1); requestAnimationFrame(() => {});
        fetch("/x"); addEventListener("x", () => {});
      }];`,
  });

  const { code } = await buildWidget({ id: "x", folder, entry: "widget.ts" });

  const used: string[] = [];
  const globals = new Proxy({}, { get: (_, name) => () => used.push(String(name)) });
  const use = onlyEntry(run(code)[0]?.factory(() => ({}), globals).default);
  assert(typeof use === "function");
  use();
  assert.deepEqual(
    used.filter((name) => name !== "mantelLoop"),
    ["setTimeout", "setInterval", "requestAnimationFrame", "fetch", "addEventListener"],
  );
});

test("every pass of every loop is reported, and the loops behave as before", async (t) => {
  const folder = await folderWith(t, {
    "widget.ts": `
      export default [() => {
        const seen = [];
        for (let i = 0; i < 2; i++) seen.push(i);
        for (const x of ["a", "b"]) { if (x === "a") continue; seen.push(x); }
        for (const key in { k: 1 }) seen.push(key);
        outer: for (;;) for (;;) break outer;
        let left = 2;
        while (left--) seen.push(left);
        do seen.push("once"); while (false);
        return seen.join(" ");
      }];`,
  });

  const { code } = await buildWidget({ id: "x", folder, entry: "widget.ts" });

  let passes = 0;
  const globals = { mantelLoop: () => passes++ };
  const use = onlyEntry(run(code)[0]?.factory(() => ({}), globals).default);
  assert(typeof use === "function");
  passes = 0;
  assert.equal(use(), "0 1 b k 1 0 once");
  assert.equal(passes, 2 + 2 + 1 + 2 + 2 + 1);
});

test("an imported style sheet becomes minified text and counts as a source file", async (t) => {
  const folder = await folderWith(t, {
    "widget.ts": `import styles from "./widget.css"; export default styles;`,
    "widget.css": "b { color: red }",
  });

  const { code, inputs } = await buildWidget({ id: "x", folder, entry: "widget.ts" });

  assert.equal(run(code)[0]?.factory().default, "b{color:red}");
  assert.deepEqual(inputs.toSorted(), [join(folder, "widget.css"), join(folder, "widget.ts")]);
});

test("the hash follows the content", async (t) => {
  const folder = await folderWith(t, { "widget.ts": "export default 1;" });
  const build = async (): Promise<string> =>
    (await buildWidget({ id: "x", folder, entry: "widget.ts" })).hash;

  const first = await build();
  await writeFile(join(folder, "widget.ts"), "export default 1; // said again");
  const same = await build();
  await writeFile(join(folder, "widget.ts"), "export default 2;");
  const other = await build();

  assert.equal(same, first);
  assert.notEqual(other, first);
});

test("the source map leads to the author's TypeScript", async (t) => {
  const folder = await folderWith(t, { "widget.ts": "const x: number = 1;\nexport default x;" });

  const { code, map, hash } = await buildWidget({ id: "x", folder, entry: "widget.ts" });

  assert.ok(code.endsWith(`//# sourceMappingURL=x.${hash}.js.map\n`));
  assert.match(JSON.parse(map).sourcesContent[0], /const x: number/);
});

test("importing a Node module in a widget is refused with advice", async (t) => {
  const folder = await folderWith(t, {
    "widget.ts": 'import { readFileSync } from "node:fs";\nexport default readFileSync;',
  });

  await assert.rejects(buildWidget({ id: "x", folder, entry: "widget.ts" }), {
    message:
      "a widget runs in the browser, which has no node:fs: use it in the plugin's server side",
  });
});

for (const [form, mount] of [
  ["a method", "mount(root) {\n    return { keep() { return 1; }, unmount() {} };\n  },"],
  [
    "a function",
    "mount: (root) => {\n    if (root) return { keep: () => 1 };\n    return {};\n  },",
  ],
  ["an arrow without a body", "mount: () => (\n    { keep: () => 1 }),"],
] as const) {
  test(`a widget that hands its state over by keep() is refused with the new name and the line: ${form}`, async (t) => {
    const source = `import { defineWidget } from "@mantel/plugin-sdk/widget";\nexport default defineWidget({\n  ${mount}\n});`;
    const folder = await folderWith(t, { "widget.ts": source });

    const error = await buildWidget({ id: "x", folder, entry: "widget.ts" }).catch(
      (thrown: MantelError) => thrown,
    );

    assert.ok(error instanceof MantelError);
    assert.deepEqual([error.code, error.message], ["reload_failed", "keep() is now handOver()"]);
    const { file, line, frame } = error.extras.location ?? {};
    assert.deepEqual([file, line], ["widget.ts", 4]);
    assert.match(frame ?? "", /^> 4 \|.*keep/m);
  });
}

test("a widget may use the name keep for other things than its state", async (t) => {
  const folder = await folderWith(t, {
    "widget.ts": `
      import { defineWidget } from "@mantel/plugin-sdk/widget";
      const list = { keep: () => 1, mount: () => ({ keep: 1 }) };
      export default defineWidget({
        mount() {
          const make = () => { return { keep: list.keep() }; };
          return { handOver: make };
        },
      });`,
  });

  const { code } = await buildWidget({ id: "x", folder, entry: "widget.ts" });

  assert.match(code, /keep/);
});

test("a missing entry is refused with its line in the manifest", async (t) => {
  const manifest = { mantel: { kinds: ["widget"], widget: "absent.ts" } };
  const folder = await folderWith(t, { "package.json": JSON.stringify(manifest, null, 2) });

  const error = await buildWidget({ id: "x", folder, entry: "absent.ts" }).catch(
    (thrown: MantelError) => thrown,
  );

  assert.ok(error instanceof MantelError);
  assert.equal(
    error.message,
    "absent.ts does not exist; create it, or change mantel.widget in package.json",
  );
  const { file, line, frame } = error.extras.location ?? {};
  assert.deepEqual([file, line], ["package.json", 6]);
  assert.match(frame ?? "", /^> 6 \|     "widget": "absent\.ts"$/m);
});

test("code that does not build is refused with the location", async (t) => {
  const folder = await folderWith(t, { "widget.ts": "export default {\n  name: ;\n};" });

  await assert.rejects(buildWidget({ id: "x", folder, entry: "widget.ts" }), {
    code: "reload_failed",
    extras: {
      location: {
        file: "widget.ts",
        line: 2,
        column: 9,
        frame: ["  1 | export default {", "> 2 |   name: ;", "    |         ^", "  3 | };"].join(
          "\n",
        ),
      },
    },
  });
});

interface Defined {
  readonly id: string;
  readonly hash: string;
  readonly factory: (
    require?: (name: string) => unknown,
    globals?: object,
  ) => { default?: unknown };
}

/** Runs a script as a browser would, and gives what it defined. */
function run(code: string, globals: object = {}): Defined[] {
  const defined: Defined[] = [];
  const mantelDefine = (id: string, hash: string, factory: Defined["factory"]) =>
    defined.push({
      id,
      hash,
      factory: (require = () => ({}), scoped = { mantelLoop: () => undefined }) =>
        factory(require, scoped),
    });
  runInNewContext(code, { mantelDefine, ...globals });
  return defined;
}

/** The value that a script exports in a list. */
function onlyEntry(list: unknown): unknown {
  assert(Array.isArray(list) && list.length === 1);
  return list[0];
}

test("a file with definitions is shared with the server side, and its schemas are left out", async (t) => {
  const folder = await folderWith(t, {
    "items.ts": `
      import { defineService, Type } from "@mantel/plugin-sdk";
      const Feed = Type.Object({ feed: Type.String({ maxLength: 100 }) });
      export const items = defineService("acme.news.items", { version: 2, input: Feed });`,
    "widget.ts": 'import { items } from "./items.ts"; export default items;',
  });

  const { code } = await buildWidget({ id: "news", folder, entry: "widget.ts" });

  assert.equal(
    JSON.stringify(run(code)[0]?.factory().default),
    '{"name":"acme.news.items","version":2}',
  );
  assert.ok(code.length < 2_000, `${code.length} characters`);
});

/** The default export of a widget with these files. */
async function exported(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = await folderWith(t, {});
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const { code, inputs } = await buildWidget({ id: "x", folder, entry: "widget.ts" });
  const value: unknown = run(code)[0]?.factory(() => ({})).default;
  return { value, inputs: inputs.map((path) => path.slice(folder.length + 1)).toSorted() };
}

test("images are data addresses, and fonts their bytes", async (t) => {
  const { value, inputs } = await exported(t, {
    "widget.ts": `
      import drawing from "./lamp.svg";
      import photo from "./lamp.png";
      import font from "./lamp.woff2";
      export default [drawing, photo, font.join()];`,
    "lamp.svg": "<svg/>",
    "lamp.png": Uint8Array.of(1, 2),
    "lamp.woff2": Uint8Array.of(3, 4),
  });

  assert.equal(String(value), "data:image/svg+xml,<svg/>,data:image/png,%01%02,3,4");
  assert.deepEqual(inputs, ["lamp.png", "lamp.svg", "lamp.woff2", "widget.ts"]);
});

test("a style sheet contains what it imports and the images that it uses", async (t) => {
  const { value, inputs } = await exported(t, {
    "widget.ts": 'import styles from "./widget.css"; export default styles;',
    "widget.css": '@import "./base.css"; i { background: url(./lamp.png) }',
    "base.css": "b { color: red }",
    "lamp.png": Uint8Array.of(1, 2),
  });

  assert.equal(value, "b{color:red}i{background:url(data:image/png,%01%02)}");
  assert.deepEqual(inputs, ["base.css", "lamp.png", "widget.css", "widget.ts"]);
});

test("a CSS module has class names of its own", async (t) => {
  const { value } = await exported(t, {
    "widget.ts":
      'import names, { css } from "./tile.module.css"; export default [names.title, css];',
    "tile.module.css": ".title { color: red }",
  });

  const [title, css] = value as [string, string];
  assert.match(title, /^tile_module_title$|^tile_title$/);
  assert.equal(css, `.${title}{color:red}`);
});

test("an image that is too large is refused with its size", async (t) => {
  const files = {
    "widget.ts": 'import styles from "./widget.css"; export default styles;',
    "widget.css": "i { background: url(./lamp.png) }",
    "lamp.png": new Uint8Array(600 * 1024),
  };

  await assert.rejects(exported(t, files), /lamp\.png has 614400 bytes, and a widget may import/);
});

test("a style sheet cannot use a file outside the plugin's folder", async (t) => {
  const files = {
    "widget.ts": 'import styles from "./widget.css"; export default styles;',
    "widget.css": `i { background: url(${import.meta.dirname}/../../../docs/images/home.png) }`,
  };

  await assert.rejects(exported(t, files), /outside the plugin's folder|cannot find/);
});

test("path aliases and JSX options of the plugin's own tsconfig.json apply, and others do not", async (t) => {
  const { value, inputs } = await exported(t, {
    "widget.ts": 'import { word } from "~/word"; export default word;',
    "word.tsx": "const h = (name: string) => name; export const word = <b />;",
    "tsconfig.json": '{ "compilerOptions": { "jsxFactory": "h", "paths": { "~/*": ["./*"] } } }',
  });

  assert.equal(value, "b");
  assert.deepEqual(inputs, ["tsconfig.json", "widget.ts", "word.tsx"]);
});
