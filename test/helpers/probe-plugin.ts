import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { packageJson, startModules } from "./module.ts";

/** A plugin that does what it is sent, with Node's modules and some of npm's at hand. */
const REACHER = `
import { definePlugin, Type, provide, defineService } from "@mantel/plugin-sdk";
const probe = defineService("probe.run", {
  input: Type.Object({ code: Type.String() }),
  output: Type.Object({ url: Type.String() }),
  deadlineMs: 60_000,
});
import child from "node:child_process";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import os from "node:os";
import stream from "node:stream";
import timers from "node:timers/promises";
import tls from "node:tls";
import { promisify } from "node:util";
import mqtt from "mqtt";
import { WebSocket } from "ws";

const at = { child, crypto, dgram, dns, fs, http, https, mqtt, net, once, os, promisify, stream, timers, tls, WebSocket };
const AsyncFunction = (async () => {}).constructor;

export default definePlugin({
  options: Type.Object({ url: Type.Optional(Type.String()) }),
  start(ctx) {
    const run = (code) => new AsyncFunction(...Object.keys(at), "ctx", code)(...Object.values(at), ctx);
    return {
      services: [provide(probe, async ({ code }) => ({
          url: JSON.stringify((await run(code).catch((error) => { throw error.cause ?? error; })) ?? null),
        }))],
    };
  },
});
`;

/** Starts a plugin with these permissions. */
export async function startProbePlugin(t: TestContext, permissions: object) {
  const mantel = { provides: ["probe.run"], permissions, limits: { callMs: 60_000 } };
  const reacher = { "package.json": packageJson("reacher", mantel), "index.ts": REACHER };
  const modules = await startModules(t, { reacher });
  assert.equal(modules.registry.get("reacher").error, null);
  return {
    ...modules,
    /** Has the plugin run the body of an async function, and gives what it returns. */
    run: async (code: string): Promise<unknown> => {
      const answer = await modules.services.call("probe.run", { code });
      return JSON.parse((answer as { url: string }).url) as unknown;
    },
    warnings: () =>
      modules.registry
        .logs("reacher")
        .flatMap(({ level, sentence }) => (level === "warn" ? sentence : [])),
  };
}
