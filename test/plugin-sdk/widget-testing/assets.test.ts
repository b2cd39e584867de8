import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { emptyFolder } from "../../helpers/folder.ts";

const FILES = {
  "package.json": '{ "type": "module" }',
  "lamp.svg": "<svg/>",
  "look.css": "p { color: red }",
  "look.module.css": ".lamp { color: red }",
  "code.wasm": "\0asm",
  "main.ts": `
import svg from "./lamp.svg";
import text from "./look.css";
import names, { css } from "./look.module.css";
import bytes from "./code.wasm";
import card from "@mantel/plugin-sdk/ui/card.css";
const given: unknown[] = [svg, text, names.lamp, css, [...bytes], card.includes("--mantel-")];
console.log(JSON.stringify(given));`,
};

test("tests can import style sheets, images and bytes, as widgets do", async (t) => {
  const folder = await emptyFolder(t);
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);

  const hook = "@mantel/plugin-sdk/widget-testing/assets";
  const args = ["--import", "tsx", "--import", hook, "main.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });

  assert.deepEqual(JSON.parse(stdout), [
    "data:image/svg+xml;base64,PHN2Zy8+",
    "p { color: red }",
    "lamp",
    ".lamp { color: red }",
    [0, 97, 115, 109],
    true,
  ]);
});
