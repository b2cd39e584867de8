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
