import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import type { DeclaredChannel } from "@mantel/plugin-sdk/protocol";
import { KeptChannels } from "../../../host/channels/kept.ts";
import { ChannelRegistry } from "../../../host/channels/registry.ts";
import { Bus } from "../../../host/events/bus.ts";
import { ApiPaths } from "../../../host/routes/api-paths.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";

const declared = (name: string, change: Partial<DeclaredChannel> = {}): DeclaredChannel => ({
  name,
  schema: {},
  title: name,
  maxBytes: 2 ** 20,
  scope: "control",
  keep: true,
  ...change,
});

async function openHost(dataFolder: string) {
  const channels = new ChannelRegistry({ bus: new Bus(), paths: new ApiPaths() });
  const log = collectedLog();
  const kept = await KeptChannels.open({ dataFolder, channels, log });
  const names = () => channels.list().map(({ plugin, declared: { name } }) => `${plugin}/${name}`);
  return { channels, kept, log, names };
}

test("values of channels with keep are there after a restart, before the plugin is", async (t) => {
  const folder = await emptyFolder(t);
  const before = await openHost(folder);
  before.channels.admit("news", [declared("headlines"), declared("draft", { keep: false })]);
  before.channels.settle("news");
  await before.channels.publish("news", "headlines", '["Rain"]');
  await before.channels.publish("news", "draft", "1");
  const { current } = before.channels.find("news", "headlines") ?? {};
  await before.kept.close();

  const after = await openHost(folder);
  const restored = after.channels.find("news", "headlines");

  assert.deepEqual(after.names(), ["news/headlines"]);
  assert.deepEqual(restored?.current, current);
  assert.equal(restored?.declared.scope, "control");
  await after.channels.publish("news", "headlines", "[]");
  assert.ok(
    (after.channels.find("news", "headlines")?.current?.revision ?? 0) > (current?.revision ?? 0),
  );
});

test("a restored value that does not fit the schema of the new code is dropped", async (t) => {
  const folder = await emptyFolder(t);
  const before = await openHost(folder);
  before.channels.admit("news", [declared("fits"), declared("misfit"), declared("gone")]);
  for (const name of ["fits", "misfit", "gone"]) await before.channels.publish("news", name, "1");
  await before.kept.close();

  const { channels, kept } = await openHost(folder);
  channels.admit("news", [declared("fits"), declared("misfit", { schema: { type: "string" } })]);
  channels.settle("news");
  await kept.close();

  const after = await openHost(folder);
  assert.deepEqual(after.names(), ["news/fits"]);
});

test("values of plugins that are no longer installed are removed", async (t) => {
  const folder = await emptyFolder(t);
  const before = await openHost(folder);
  for (const plugin of ["news", "gone"]) {
    before.channels.admit(plugin, [declared("headlines")]);
    await before.channels.publish(plugin, "headlines", "1");
  }
  await before.kept.close();

  const { kept } = await openHost(folder);
  kept.keepOnly(new Set(["news"]));
  await kept.close();

  const after = await openHost(folder);
  assert.deepEqual(after.names(), ["news/headlines"]);
});

test("a value is in the file within two seconds, without a stop of the host", async (t) => {
  const folder = await emptyFolder(t);
  const { channels, kept } = await openHost(folder);
  t.after(() => kept.close());
  channels.admit("news", [declared("headlines")]);

  await channels.publish("news", "headlines", '"Rain"');

  const inFile = () => readFile(join(folder, "channels.json"), "utf8").catch(() => "");
  await until(async () => (await inFile()).includes('"Rain"'), { withinMs: 2_000 });
});

test("values that change all the time are written every two seconds, and equal ones not at all", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 10_000;
  t.mock.method(performance, "now", () => now);
  const write = t.mock.method(DocumentFile.prototype, "write", () => Promise.resolve());
  const { channels, kept } = await openHost(await emptyFolder(t));
  channels.admit("news", [declared("headlines")]);
  const publishFor = async (ms: number, value: () => unknown) => {
    for (let at = 0; at < ms; at += 100) {
      await channels.publish("news", "headlines", JSON.stringify(value()));
      now += 100;
      t.mock.timers.tick(100);
    }
  };

  await publishFor(20_000, () => now);
  const whileChanging = write.mock.callCount();
  await publishFor(5_000, () => "same");
  const afterwards = write.mock.callCount();
  await publishFor(20_000, () => "same");

  assert.ok(whileChanging >= 9 && whileChanging <= 10, String(whileChanging));
  assert.ok(afterwards <= whileChanging + 2, String(afterwards));
  assert.equal(write.mock.callCount(), afterwards);
  await kept.close();
  assert.equal(write.mock.callCount(), afterwards);
});

test("a value that is too large to keep is left out, and the log says so once", async (t) => {
  const folder = await emptyFolder(t);
  const { channels, kept, log } = await openHost(folder);
  const large = JSON.stringify("x".repeat(2 ** 20 - 10));
  for (const plugin of ["a", "b", "c", "d", "e"]) {
    channels.admit(plugin, [declared("large")]);
    await channels.publish(plugin, "large", large);
  }
  await kept.close();
  const after = await openHost(folder);
  assert.deepEqual(after.names(), ["a/large", "b/large", "c/large", "d/large"]);
  const told = log.records.filter(({ sentence }) => sentence.includes("is not kept"));
  assert.deepEqual(
    told.map(({ fields }) => fields?.["channel"]),
    ["e/large"],
  );
});

test("a damaged file is set aside, and the host starts without the values", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "channels.json"), '{"version": 1, "channels": [{"plugin": 7}]}');
  const { names } = await openHost(folder);
  assert.deepEqual(names(), []);
});
