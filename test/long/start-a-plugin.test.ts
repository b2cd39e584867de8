import assert from "node:assert/strict";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { blocksIn } from "../docs/guide-blocks.ts";
import { REPOSITORY, save } from "../docs/guide-home.ts";
import { Terminal } from "../docs/terminal.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

const LINKED = ["host", "node_modules", "package.json", "tsconfig.json", "plugin-sdk", "scripts"];

test("a reader who follows the start page has a tested bridge with a channel and a widget that runs", async (t) => {
  const work = await emptyFolder(t);
  const clone = join(work, "mantel");
  await mkdir(clone);
  for (const part of [...LINKED, "LICENSE"])
    await symlink(join(REPOSITORY, part), join(clone, part));
  const plugin = join(work, "my-plugins/garden-lamp");
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const terminal = Terminal.open(t, clone, environment);
  const page = await readFile(join(REPOSITORY, "docs/start-a-plugin.md"), "utf8");

  const blocks = blocksIn(page);
  const readsRunningHome = (block: (typeof blocks)[number]) =>
    block.kind === "commands" && block.text.includes("localhost:8470");
  for (const block of blocks.filter((each) => !readsRunningHome(each))) {
    if (block.kind !== "commands") {
      await save(plugin, block);
      continue;
    }
    for (const command of block.text.split("\n")) {
      const startedAt = performance.now();
      const { code, output } = await terminal.run(command);
      assert.equal(code, 0, `${command}\n${output}`);
      t.diagnostic(`${command}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
    }
  }

  const host = await startHost(t, { plugins: [], args: ["--consent-on-save"] });
  await cp(plugin, join(host.plugins, "garden-lamp"), {
    recursive: true,
    filter: (path) => !/node_modules|vendor|\.git$/.test(path),
  });
  const on = { method: "POST", json: { on: true } };
  await until(
    async () => (await host.api("/smart-home/devices/gardenlamp:light:1/command", on)).ok,
    { withinMs: 20_000 },
  );
  const inClone = Terminal.open(t, clone, environment);
  const readings = blocks.filter(readsRunningHome);
  assert.equal(readings.length, 1);
  for (const block of readings) {
    assert.ok(block.kind === "commands");
    const commands = block.text
      .replaceAll("http://localhost:8470", new URL(host.url).origin)
      .replace("--scope read", `$& --data ${host.data}`)
      .replaceAll("curl ", "curl --silent ");
    const { code, output } = await inClone.run(commands);
    assert.equal(code, 0, output);
    assert.match(output, /"gardenlamp:light:1"/);
    assert.match(output, /"value":1\b/);
  }
  const module = (await (await host.api("/modules/garden-lamp")).json()) as {
    widget: { url: string };
  };
  assert.equal((await fetch(new URL(module.widget.url, host.url))).status, 200);
});
