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
    const widget = await openWidget(pathToFileURL(join(folder, "widget.ts")), {
      browser: await openBrowser(t),
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
