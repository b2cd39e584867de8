import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { type TSchema, Type } from "typebox";
import { admin, editor, openConfig } from "./open-config.ts";

/** A schema as it arrives from a plugin's process. */
const sent = (schema: TSchema): TSchema => JSON.parse(JSON.stringify(schema)) as TSchema;
const HUE = sent(
  Type.Object(
    {
      address: Type.String({ minLength: 1 }),
      appKey: Type.Optional(Type.String({ writeOnly: true })),
      retrySeconds: Type.Integer({ default: 30, minimum: 1 }),
    },
    { additionalProperties: false },
  ),
);

test("a plugin's options belong to the section with its id", async (t) => {
  const { config } = await openConfig(t);
  await assert.rejects(config.patch({ hue: { address: "10.0.0.5" } }, admin), { code: "invalid" });

  config.registerOptions("hue", HUE);
  const answer = await config.patch({ hue: { address: "10.0.0.5", appKey: "canary" } }, admin);

  assert.deepEqual(answer.changed, ["hue.address", "hue.appKey"]);
  assert.deepEqual(answer.config["hue"], {
    address: "10.0.0.5",
    appKey: { set: true },
    retrySeconds: 30,
  });
  assert.ok(answer.meta.adminWritable.includes("hue.address"));
  assert.deepEqual(config.optionsFor("hue", HUE), {
    options: { address: "10.0.0.5", appKey: "canary", retrySeconds: 30 },
    faults: [],
  });
});

test("missing options are faults with their location in the config", async (t) => {
  const { config } = await openConfig(t);

  const { faults } = config.optionsFor("hue", HUE);

  assert.deepEqual(faults, [{ pointer: "/hue/address", detail: "is missing" }]);
});

test("a plugin gets only its own section, including host keys in it unchanged", async (t) => {
  const schema = sent(
    Type.Object({
      refreshSeconds: Type.Integer(),
      sources: Type.Array(Type.String(), { default: [] }),
    }),
  );
  const { config } = await openConfig(t);

  const { options, faults } = config.optionsFor("calendar", schema);

  assert.deepEqual(
    { options, faults },
    { options: { refreshSeconds: 900, sources: [] }, faults: [] },
  );
});

test("a plugin cannot expose its keys to editors or to environment variables", async (t) => {
  const { config } = await openConfig(t, { environment: { HOME: "/home/somebody" } });
  const marks = { "x-scope": "edit", "x-env": "HOME" };

  config.registerOptions("sly", sent(Type.Object({ home: Type.Optional(Type.String(marks)) })));

  assert.deepEqual(config.optionsFor("sly", undefined).options, {});
  await assert.rejects(config.patch({ sly: { home: "x" } }, editor), {
    code: "config_key_not_allowed",
  });
});

test("a section of a missing plugin is kept and not shown", async (t) => {
  const { config, path } = await openConfig(t, {
    files: { "config.json": '{"hue":{"address":"10.0.0.5","appKey":"canary"}}' },
  });
  assert.equal(config.view().config["hue"], undefined);

  await config.patch({ ui: { theme: "dark" } }, editor);
  assert.match(await readFile(path, "utf8"), /10\.0\.0\.5/);
  config.registerOptions("hue", HUE);

  assert.deepEqual(config.view().config["hue"]?.["appKey"], { set: true });
  assert.deepEqual(config.optionsFor("hue", HUE).faults, []);
  await config.close();
  assert.doesNotMatch(await readFile(path, "utf8"), /canary/);
});

test("registering the same options again changes no revision", async (t) => {
  const { config } = await openConfig(t);
  config.registerOptions("hue", HUE);
  const before = config.revision;

  config.registerOptions("hue", sent(HUE));

  assert.equal(config.revision, before);
});

test("the options that a patch would lead to are known without storing it", async (t) => {
  const { config, stored } = await openConfig(t);
  config.registerOptions("hue", HUE);
  await config.patch({ hue: { address: "10.0.0.5", appKey: "canary" } }, admin);

  const options = config.optionsAfter("hue", HUE, { retrySeconds: 5 });
  const unset = config.optionsAfter("hue", HUE, { appKey: null });

  assert.deepEqual(options, { address: "10.0.0.5", appKey: "canary", retrySeconds: 5 });
  assert.deepEqual(unset, { address: "10.0.0.5", retrySeconds: 30 });
  assert.deepEqual(await stored(), { hue: { address: "10.0.0.5" } });
  for (const [patch, pointer] of [
    [{ address: null }, "/hue/address is missing"],
    [{ retrySeconds: 0 }, "/hue/retrySeconds is 0; it must be at least 1"],
  ] as const) {
    assert.throws(() => config.optionsAfter("hue", HUE, patch), {
      code: "invalid",
      message: `the patch is invalid: ${pointer}`,
    });
  }
});

test("a section given in place of the stored one keeps the secrets", async (t) => {
  const { config } = await openConfig(t);
  config.registerOptions("hue", HUE);
  await config.patch({ hue: { address: "10.0.0.5", appKey: "canary", retrySeconds: 9 } }, admin);

  const { options } = config.optionsFor("hue", HUE, { address: "10.0.0.6" });

  assert.deepEqual(options, { address: "10.0.0.6", appKey: "canary", retrySeconds: 30 });
});

test("the form of a plugin has its own options, and of secrets only if they are set", async (t) => {
  const { config } = await openConfig(t);
  const none = config.formOf("hue");
  config.registerOptions("hue", HUE);
  const { revision } = await config.patch({ hue: { address: "10.0.0.5", appKey: "x" } }, admin);

  const { properties } = HUE as unknown as { properties: object };
  assert.deepEqual({ ...none, revision: 0 }, { schema: null, options: {}, revision: 0 });
  assert.deepEqual(config.formOf("hue"), {
    schema: { type: "object", properties },
    options: { address: "10.0.0.5", appKey: { set: true }, retrySeconds: 30 },
    revision,
  });
});

test("the configured section of a plugin has neither defaults nor secrets", async (t) => {
  const files = { "config.json": '{"hue":{"address":"10.0.0.5","appKey":"canary","more":1}}' };
  const { config } = await openConfig(t, { files });
  config.registerOptions("hue", HUE);

  assert.deepEqual(config.sectionOf("hue"), { address: "10.0.0.5", more: 1 });
  assert.deepEqual(config.sectionOf("nothing"), {});
});

test("a plugin is configured as long as one of its options is set", async (t) => {
  const { config } = await openConfig(t, { files: { "config.json": '{"hue":{}}' } });
  config.registerOptions("hue", HUE);
  const seen = [config.hasSection("hue")];

  await config.patch({ hue: { appKey: "canary" } }, admin);
  seen.push(config.hasSection("hue"), config.hasSection("ui"));
  await config.patch({ hue: { appKey: null } }, admin);
  seen.push(config.hasSection("hue"));

  assert.deepEqual(seen, [false, true, false, false]);
});

test("a changed schema of the options is a change of the config, and adds its module", async (t) => {
  const { config } = await openConfig(t);
  config.registerOptions("hue", HUE);
  const before = config.revision;

  config.registerOptions("hue", sent(Type.Object({ port: Type.Integer({ default: 80 }) })));

  assert.ok(config.revision > before);
  assert.deepEqual(config.view().config["hue"], { port: 80 });
  assert.deepEqual(
    config.view().meta.adminWritable.filter((key) => key.includes("hue")),
    ["hue.port", "modules.hue"],
  );
});

test("a plugin cannot replace a key of the host in its section", async (t) => {
  const { config } = await openConfig(t);

  config.registerOptions("calendar", sent(Type.Object({ refreshSeconds: Type.String() })));

  await config.patch({ calendar: { refreshSeconds: 60 } }, editor);
  assert.equal(config.current.calendar.refreshSeconds, 60);
  assert.ok(!config.view().meta.adminWritable.includes("calendar.refreshSeconds"));
});

test("nobody can change the effective config in memory", async (t) => {
  const { config } = await openConfig(t);
  const { server } = config.current;

  assert.ok(Object.isFrozen(config.current) && Object.isFrozen(server.rateLimit));
  assert.throws(() => Object.assign(server.rateLimit, { burst: 1 }), TypeError);
});
