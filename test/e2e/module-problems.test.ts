import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";

test("the dashboard shows the fault and its line to editors only", async (t) => {
  const host = await startHost(t, {
    plugins: ["plugins/system", "plugins/clock-widget"],
    trusted: "all",
  });
  const browser = await openBrowser(t);
  const open = async (scope: "edit" | "control") =>
    (await openPage(t, browser, await host.link(scope))).page;
  const [author, guest] = [await open("edit"), await open("control")];
  const file = join(host.plugins, "system", "index.ts");
  const source = await readFile(file, "utf8");

  await writeFile(file, `const = 1;\n${source}`);
  const notice = author.getByRole("button", { name: "Show problems" });
  await notice.click();
  const popover = author.locator("#module-problems");
  await popover.getByText("index.ts:1").waitFor();

  assert.match(await popover.innerText(), /runs the previous version[^]*> 1 \| const = 1;/);
  assert.equal(await guest.locator(".problem-notice").count(), 0);
  await writeFile(file, source);
  await notice.waitFor({ state: "detached" });
});
