import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../helpers/until.ts";
import { admin, editor, openConfig } from "./open-config.ts";

test("a secret is stored separately and never shown", async (t) => {
  const { config, dataFolder, path } = await openConfig(t);
  assert.deepEqual(config.view().config["mqtt"]?.["password"], { set: false });

  const patch = { mqtt: { username: "mantel", password: "canary" } };
  const answer = await config.patch(patch, admin);

  assert.equal(config.current.mqtt.password, "canary");
  assert.deepEqual(answer.config["mqtt"]?.["password"], { set: true });
  assert.doesNotMatch(JSON.stringify(answer), /canary/);
  assert.doesNotMatch(await readFile(path, "utf8"), /canary/);
  const secrets = join(dataFolder, "secrets.json");
  assert.deepEqual(JSON.parse(await readFile(secrets, "utf8")), { mqtt: { password: "canary" } });
  assert.equal((await stat(secrets)).mode & 0o777, 0o600);
});

test("a secret written into the config file by hand is moved out of it", async (t) => {
  const files = { "config.json": '{"mqtt":{"password":"canary","username":"me"}}' };

  const { config, dataFolder, stored, log } = await openConfig(t, { files });

  assert.equal(config.current.mqtt.password, "canary");
  assert.deepEqual(log.records, [
    {
      level: "info",
      sentence: "moved secrets out of the config file",
      fields: { keys: ["mqtt.password"] },
    },
  ]);
  assert.deepEqual(await stored(), { mqtt: { username: "me" } });
  const names = await readdir(dataFolder);
  const texts = await Promise.all(names.map((name) => readFile(join(dataFolder, name), "utf8")));
  const holders = names.filter((_, index) => texts[index]?.includes("canary"));
  assert.deepEqual(holders.toSorted(), ["secrets.json", "secrets.json.last-good"]);
});

test("an edit of the file is applied and announced", async (t) => {
  const { config, path, log } = await openConfig(t);
  const told: string[] = [];
  config.onChange((changed) => told.push(...changed));

  writeFileSync(path, '{ "ui": { "theme": "night" } }'); // in one step: an empty file would be an invalid edit

  await until(() => config.current.ui.theme === "night");
  assert.deepEqual(told, ["ui.theme"]);
  assert.deepEqual(
    log.records.map(({ level, sentence }) => [level, sentence]),
    [["info", "the edited config was applied"]],
  );
});

test("an invalid edit is logged with every fault and changes nothing", async (t) => {
  const { config, path, log } = await openConfig(t);

  writeFileSync(path, '{"ui":{"theme":"pink","tint":1},"log":{"level":"warn"}}');

  await until(() => log.records.some(({ level }) => level === "error"));
  const record = log.records.find(({ level }) => level === "error");
  assert.equal(record?.sentence, "invalid edit of the config; keeping the previous configuration");
  assert.match(String(record?.fields["reason"]), /^the config is invalid: \/ui\/theme /);
  assert.match(JSON.stringify(record?.fields["faults"]), /"\/ui\/theme".*"\/ui\/tint"/);
  assert.equal(config.current.log.level, "info");
});

test("a patch sets an invalid manual edit aside instead of destroying it", async (t) => {
  const { config, dataFolder, path, stored, log } = await openConfig(t);
  await config.patch({ ui: { theme: "dark" } }, editor);
  await writeFile(path, '{ "ui": { "theme": "dark", }');

  await config.patch({ ui: { units: "imperial" } }, editor);

  assert.deepEqual(await stored(), { ui: { theme: "dark", units: "imperial" } });
  const aside = (await readdir(dataFolder)).filter((name) =>
    name.startsWith("config.json.damaged-"),
  );
  assert.equal(aside.length, 1);
  const said = log.records.find(({ level }) => level === "warn");
  assert.equal(said?.sentence, "set aside an invalid edit of the config");
  assert.equal(said?.fields["keptAs"], join(dataFolder, aside[0] ?? ""));
});

test("a patch keeps what was edited a moment ago", async (t) => {
  const { config, path } = await openConfig(t);
  await writeFile(path, '{ "ui": { "theme": "dark" } }');

  await config.patch({ ui: { units: "imperial" } }, editor);

  assert.equal(config.current.ui.theme, "dark");
});

test("a damaged config at the start is set aside, and the last good one is used", async (t) => {
  const { config, dataFolder } = await openConfig(t);
  await config.patch({ ui: { theme: "dark" } }, editor);
  await config.close();
  const files = { "config.json": '{"ui":{"theme":"dark"' };

  const { config: next, log } = await openConfig(t, { dataFolder, files });

  assert.equal(next.current.ui.theme, "dark");
  assert.match(
    String(log.records[0]?.fields["damage"]),
    /config\.json is not valid JSON at line 1/,
  );
});

test("a change of config and secrets that a crash cut off is carried out", async (t) => {
  const { config, dataFolder, stored } = await openConfig(t, {
    files: {
      "config.json": '{"mqtt":{"username":"old"}}',
      "secrets.json": '{"mqtt":{"password":"new"}}',
      "config.pending.json":
        '{"plain":{"mqtt":{"username":"new"}},"secret":{"mqtt":{"password":"new"}}}',
    },
  });

  assert.equal(config.current.mqtt.username, "new");
  assert.equal(config.current.mqtt.password, "new");
  assert.deepEqual(await stored(), { mqtt: { username: "new" } });
  assert.ok(!(await readdir(dataFolder)).includes("config.pending.json"));
});

for (const text of ["", "null", "{}", '{"plain":{"ui":{"theme":5}},"secret":{}}']) {
  test(`${text || "nothing"} in place of a cut-off change is logged and changes nothing`, async (t) => {
    const { config, dataFolder, log } = await openConfig(t, {
      files: { "config.json": '{"ui":{"theme":"dark"}}', "config.pending.json": text },
    });

    assert.equal(config.current.ui.theme, "dark");
    const { level, sentence, fields } = log.records[0] ?? assert.fail();
    assert.deepEqual(
      [level, sentence],
      ["error", "cannot read a change that a crash has interrupted"],
    );
    assert.equal((fields["error"] as { code?: string }).code, "invalid");
    assert.ok(!(await readdir(dataFolder)).includes("config.pending.json"));
  });
}

test("secrets are unchanged if the config file cannot be written", async (t) => {
  const { config, dataFolder, path } = await openConfig(t, {
    files: {
      "config.json": '{"mqtt":{"username":"old"}}',
      "secrets.json": '{"mqtt":{"password":"old"}}',
    },
  });
  await rm(path);
  await mkdir(path);

  const patch = { mqtt: { username: "new", password: "new" } };
  await assert.rejects(config.patch(patch, admin), /config\.json is not a readable file/);

  const secrets = await readFile(join(dataFolder, "secrets.json"), "utf8");
  assert.deepEqual(JSON.parse(secrets), { mqtt: { password: "old" } });
  assert.equal(config.current.mqtt.password, "old");
  assert.ok(!(await readdir(dataFolder)).includes("config.pending.json"));
});

for (const [what, text, reason] of [
  ["no object", "[]", "the whole value must be an object of sections"],
  ["an unknown section", '{"Some thing":{}}', "/Some thing is not a known key"],
  ["a section that is not an object", '{"ui":5}', "/ui must be an object"],
  ["an unknown key of the host", '{"ui":{"tint":1}}', "/ui/tint is not a known key"],
] as const) {
  test(`a config file with ${what} is refused with the reason`, async (t) => {
    const { config, path, log } = await openConfig(t);

    await writeFile(path, text);
    await config.patch({}, admin);

    assert.equal(log.records[0]?.fields["reason"], `the config is invalid: ${reason}`);
  });
}

test("null in the config file means the default", async (t) => {
  const files = { "config.json": '{"ui":{"theme":null,"units":"imperial"},"lamp":{"host":null}}' };
  const { config } = await openConfig(t, { files });

  await config.patch({ log: { level: "warn" } }, admin);

  assert.deepEqual([config.current.ui.theme, config.current.ui.units], ["auto", "imperial"]);
  assert.equal(config.hasSection("lamp"), false);
});

test("a patch of secrets alone leaves the config file alone, and the other way round", async (t) => {
  const { config, dataFolder, path } = await openConfig(t, {
    files: {
      "config.json": '{"mqtt": {"username": "me"}}',
      "secrets.json": '{"mqtt": {"password": "old"}}',
    },
  });
  const secrets = join(dataFolder, "secrets.json");
  const inodes = async () =>
    Promise.all([path, secrets].map(async (each) => (await stat(each)).ino));

  const first = await inodes();
  await config.patch({ mqtt: { password: "new" } }, admin);
  const second = await inodes();
  await config.patch({ mqtt: { username: "you" } }, admin);
  const third = await inodes();

  assert.deepEqual([first[0] === second[0], first[1] === second[1]], [true, false]);
  assert.deepEqual([second[0] === third[0], second[1] === third[1]], [false, true]);
  assert.equal((await readdir(dataFolder)).includes("config.pending.json"), false);
});
