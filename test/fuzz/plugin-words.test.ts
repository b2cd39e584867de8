import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Duplex } from "node:stream";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Manifest, Manifest as ManifestSchema } from "@mantel/plugin-sdk/manifest";
import { Peer, RemoteFault } from "@mantel/plugin-sdk/rpc";
import * as fc from "fast-check";
import { ChannelFollower } from "../../host/channels/follower.ts";
import { optionSchema } from "../../host/config/option-schema.ts";
import { ConfigStore } from "../../host/config/store.ts";
import { type HostDependencies, hostApi } from "../../host/modules/calls/host-api.ts";
import { readManifest } from "../../host/modules/manifest/manifest.ts";
import { openChannel } from "../../host/modules/process/channel.ts";
import { ModuleLog } from "../../host/modules/state/logs.ts";
import { ServiceRegistry } from "../../host/services/registry.ts";
import type { Schema } from "../../scripts/fuzz/document.ts";
import { anyJson, valuesFitting, oddText } from "../../scripts/fuzz/values.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { serveApp } from "../host/http/serve-app.ts";
import { checkProperty } from "./settings.ts";

/** JSON Schema with what its keywords should have, and with what they should not. */
const oddSchema = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, 5, "x", [], {}), anyJson),
    fc.record(
      {
        type: fc.oneof(fc.constantFrom("object", "string", "array", "integer"), anyJson),
        properties: fc.oneof(
          fc.dictionary(fc.oneof(fc.constantFrom("a", "b"), oddText), tie("schema"), {
            maxKeys: 3,
          }),
          anyJson,
        ),
        items: tie("schema"),
        required: fc.oneof(fc.constant(["a"]), anyJson),
        default: anyJson,
        writeOnly: fc.oneof(fc.boolean(), anyJson),
        pattern: fc.constantFrom("(a+)+$", "(", "x"),
        $ref: fc.constantFrom("#", "#/a", "http://127.0.0.1:9/"),
        anyOf: fc.oneof(fc.array(tie("schema"), { maxLength: 2 }), anyJson),
        enum: anyJson,
        additionalProperties: tie("schema"),
        patternProperties: fc.oneof(fc.dictionary(oddText, tie("schema"), { maxKeys: 2 }), anyJson),
      },
      { requiredKeys: [] },
    ),
  ),
})).schema;

test("any options schema of a plugin leaves the config of other plugins working", async (t) => {
  const log = collectedLog();
  const config = await ConfigStore.open({ dataFolder: await emptyFolder(t), environment: {}, log });
  t.after(() => config.close());
  await config.patch({ ui: { theme: "dark" } }, { admin: true });

  await checkProperty(
    t,
    fc.asyncProperty(oddSchema, anyJson, async (given, value) => {
      try {
        const schema = optionSchema(JSON.parse(JSON.stringify(given ?? null)));
        config.registerOptions("odd", schema);
        config.optionsFor("odd", schema);
      } catch (error) {
        assert.ok(error instanceof MantelError, String((error as Error).stack));
      }
      await config.patch({ odd: { a: value } }, { admin: true }).catch((error: unknown) => {
        assert.ok(error instanceof MantelError, String((error as Error).stack));
      });
      assert.equal(config.view().config["ui"]?.["theme"], "dark");
      JSON.stringify(config.view());
    }),
    2_000,
  );
});

const METHODS = [
  "publishDevices",
  "updateDevices",
  "publishScenes",
  "publish",
  "callService",
  "log",
];
const message = fc.oneof(
  anyJson,
  fc.record(
    {
      kind: fc.oneof(fc.constantFrom("call", "answer", "failure", "begun"), anyJson),
      call: fc.oneof(fc.constantFrom(1, 2, 3), anyJson),
      method: fc.oneof(fc.constantFrom(...METHODS, "reportDegraded"), oddText),
      input: fc.oneof(
        anyJson,
        fc.array(fc.record({ nativeId: oddText, kind: anyJson, name: oddText, state: anyJson }), {
          maxLength: 2,
        }),
        fc.record({ name: fc.constant("calendar.window"), value: anyJson }),
        fc.record({ level: anyJson, sentence: anyJson, fields: anyJson, dropped: anyJson }),
        fc.record({ reason: anyJson }),
      ),
      value: anyJson,
      error: fc.oneof(
        anyJson,
        fc.record({
          code: anyJson,
          name: anyJson,
          message: anyJson,
          stack: anyJson,
          extras: anyJson,
        }),
      ),
    },
    { requiredKeys: ["kind"] },
  ),
);

test("after any message of a plugin process the host continues, and every call ends", async (t) => {
  const { parts, url } = await serveApp(t);
  const log = collectedLog();
  const manifest = fitManifest();
  const registries = {
    devices: parts.devices,
    scenes: parts.scenes,
    services: new ServiceRegistry(),
    channels: parts.channels,
    publications: {
      "calendar.window": { accept: () => undefined, gone: () => undefined },
    },
    home: {},
  };
  const caller = {
    id: "demo",
    manifest,
    log: new ModuleLog(log),
    isLive: () => true,
    degraded: () => undefined,
    follower: () => new ChannelFollower(parts.channels, async () => undefined),
    sendChanges: () => Promise.resolve(),
    runSchedule: () => Promise.resolve(),
    sendSource: () => Promise.resolve(),
    exited: new Promise(() => undefined),
  };

  await checkProperty(
    t,
    fc.asyncProperty(fc.array(message, { maxLength: 6 }), async (messages) => {
      const [here, there] = duplexPair();
      const ends: string[] = [];
      const peer = new Peer<{ ping(nothing: object): Promise<unknown> }, object>(
        openChannel(here, { end: (cause) => ends.push(cause) }),
        hostApi(caller, registries as unknown as HostDependencies),
      );
      const asked = [1, 2, 3].map(() => peer.call("ping", {}, 500).catch(judge));
      there.write(messages.map((each) => `${JSON.stringify(each) ?? ""}\n`).join(""));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      peer.close(new MantelError("module_down", "it ended"));
      await Promise.all(asked);
      here.destroy();
    }),
    2_000,
  );

  const { status } = await fetch(`${url}/api`);
  assert.equal(status, 200);
  JSON.stringify([(await parts.devices.snapshot({})).body.toString(), parts.scenes.list()]);
});

function judge(error: unknown): void {
  assert.ok(error instanceof MantelError || error instanceof RemoteFault, String(error));
}

function fitManifest(): Manifest {
  return {
    id: "demo",
    kinds: ["bridge"],
    server: "index.ts",
    bridge: { kind: "demo", commandsPerSecond: 5 },
    provides: ["calendar.window"],
    uses: ["calendar.events"],
  } as never;
}

/** Two ends of a pipe in memory. */
function duplexPair(): [Duplex, Duplex] {
  const [up, down] = [new PassThrough(), new PassThrough()];
  const end = (read: PassThrough, write: PassThrough) =>
    Object.assign(read, {
      write: (chunk: string, done?: () => void) => write.push(chunk) && (done?.(), true),
    }) as never as Duplex;
  return [end(up, down), end(down, up)];
}

test("any manifest is read or refused with a reason", async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, "package.json");
  const good = valuesFitting(JSON.parse(JSON.stringify(ManifestSchema)) as Schema);
  const content = fc.oneof(
    fc.record({ name: oddText, version: anyJson, mantel: fc.oneof(good, anyJson) }),
    fc.tuple(good, oddText, anyJson).map(([mantel, key, odd]) => ({
      mantel: { ...(mantel as object), [key]: odd },
    })),
  );
  const text = fc.oneof(
    content.map((each) => JSON.stringify(each)),
    oddText,
  );

  await checkProperty(
    t,
    fc.asyncProperty(text, async (written) => {
      await writeFile(file, written);
      await readManifest(folder).then(
        ({ id }) => assert.match(id, /^[a-z][a-z0-9-]*$/),
        (error: unknown) => assert.ok(error instanceof MantelError, String((error as Error).stack)),
      );
    }),
    2_000,
  );
});
