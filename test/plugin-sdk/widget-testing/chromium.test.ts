import assert from "node:assert/strict";
import { symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { defineService, provide, Type } from "@mantel/plugin-sdk";
import { openWidget } from "@mantel/plugin-sdk/widget-testing/chromium";
import { hasBrowser, openBrowser } from "../../helpers/browser.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const WIDGET = `
import { defineService } from "@mantel/plugin-sdk";
import { defineWidget, s } from "@mantel/plugin-sdk/widget";
import { html, render } from "lit";
const search = defineService("acme.news.search", {});
export default defineWidget({
  name: "Paper",
  size: { default: [2, 2] },
  settings: { title: s.text({ default: "News" }) },
  styles: "h2 { color: var(--mantel-text) } button { width: 100% }",
  mount(root, ctx) {
    const lines = ctx.channel("headlines");
    ctx.effect(() => {
      render(html\`<h2>\${ctx.settings.value.title}</h2>
        <button @click=\${() => ctx.call(search, {}).then((text) => ctx.announce(text))}>\${lines.value}</button>\`, root);
    });
  },
});`;
const search = defineService("acme.news.search", { input: Type.Object({}), output: Type.String() });

test(
  "a widget opens in Chromium with the theme of the dashboard",
  { skip: !hasBrowser() },
  async (t) => {
    const folder = await emptyFolder(t);
    await symlink(resolve("node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "widget.ts"), WIDGET);
    const entry = pathToFileURL(join(folder, "widget.ts"));
    const browser = await openBrowser(t);
    const mantel = { id: "paper", kinds: ["widget"], widget: "widget.ts", needs: {} };
    await writeFile(join(folder, "package.json"), JSON.stringify({ mantel }));
    const refused = await openWidget(entry, { browser, channels: { headlines: "Rain" } });
    assert.equal(await refused.locator("button").textContent(), "");
    await refused.close();

    const needs = { channels: ["headlines"], services: ["acme.news.search"] };
    const widget = await openWidget(entry, {
      browser,
      needs,
      size: { width: 300, height: 200 },
      theme: "light",
      channels: { headlines: "Rain" },
      services: [provide(search, () => "found")],
    });

    const button = widget.locator("button");
    await button.click();
    await widget.setChannel("headlines", "Sun");
    await widget.setSettings({ title: "Paper" });

    assert.equal(await button.textContent(), "Sun");
    assert.equal(await widget.locator("h2").textContent(), "Paper");
    assert.equal((await button.boundingBox())?.width, 300);
    const color = await widget.locator("h2").evaluate((each) => getComputedStyle(each).color);
    assert.match(color, /^oklch\(0\.2/);
    assert.deepEqual((await widget.recorded()).announced, ["found"]);
    assert.deepEqual(widget.faults, []);
    await widget.close();
  },
);

const ASSETS = {
  "colors.css": ":host { --garden: rgb(1, 2, 3) }",
  "leaf.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
  "pixel.gif": Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "base64"),
  "letters.ttf": Buffer.from("font"),
  "look.module.css": `@import "./colors.css";
    .leaf { color: var(--garden); background: url("./leaf.svg") }`,
  "widget.ts": `
import { defineWidget } from "@mantel/plugin-sdk/widget";
import styles, { css } from "./look.module.css";
import pixel from "./pixel.gif";
import letters from "./letters.ttf";
export default defineWidget({
  name: "Leaf",
  size: { default: [1, 1] },
  styles: css,
  mount(root) {
    root.innerHTML = \`<p class="\${styles.leaf}">\${pixel.slice(0, 15)} \${letters.length}</p>\`;
  },
});`,
};

test(
  "a widget in Chromium has the style sheets, images and fonts that the host builds into it",
  { skip: !hasBrowser() },
  async (t) => {
    const folder = await emptyFolder(t);
    await symlink(resolve("node_modules"), join(folder, "node_modules"));
    for (const [name, content] of Object.entries(ASSETS)) {
      await writeFile(join(folder, name), content);
    }

    const widget = await openWidget(pathToFileURL(join(folder, "widget.ts")), {
      browser: await openBrowser(t),
    });

    const leaf = widget.locator("p");
    assert.equal(await leaf.textContent(), "data:image/gif; 4");
    const [color, image] = await leaf.evaluate((each) => {
      const look = getComputedStyle(each);
      return [look.color, look.backgroundImage];
    });
    assert.equal(color, "rgb(1, 2, 3)");
    assert.match(image, /^url\("data:image\/svg/);
    await widget.close();
  },
);
