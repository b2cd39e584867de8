import type { Proof } from "./proof.ts";

/** The last record of a hostile plugin, with what it got or why it failed. */
export const ATTACK_OVER = "the attack is over";

/** A function for the code of attacks, in a process and in a browser. */
export const ANY_OF = `
/** Carries out each, and gives the first that worked; otherwise throws all that was said. */
async function anyOf(attempts) {
  const said = [];
  for (const attempt of attempts) {
    try {
      const got = await attempt();
      if (got !== undefined) return got;
      said[said.length] = "nothing";
    } catch (error) {
      said[said.length] = String(error?.message ?? error).slice(0, 80);
    }
  }
  throw new Error(said.join(" | "));
}
`;

/**
 * The tools of the attacks. Paths are written as text and never normalised, because the way is the attack:
 * `..` behind a link or a descriptor leads elsewhere than it says.
 */
const AT_HAND = `
import asyncHooks from "node:async_hooks";
import childProcess from "node:child_process";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import events from "node:events";
import fs from "node:fs";
import http from "node:http";
import module from "node:module";
import net from "node:net";
import os from "node:os";
import v8 from "node:v8";
import workerThreads from "node:worker_threads";
import { definePlugin } from "@mantel/plugin-sdk";

const { stringify } = JSON;
const hash = (content) => crypto.createHash("sha256").update(content).digest("hex");
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const builtin = (name) => process.getBuiltinModule("node:" + name);
${ANY_OF}
/** A path as it is, by a descriptor of the root, and by links below a folder that is open. */
const waysTo = (path) => [
  () => path,
  () => {
    let fd = fs.openSync(".");
    for (let up = 0; up < 12; up++) fd = fs.openSync("/proc/self/fd/" + fd + "/..");
    return "/proc/self/fd/" + fd + "/.." + path;
  },
  () => {
    const round = "/node_modules/@mantel/plugin-sdk/..";
    return facts.modules + "/@mantel/plugin-sdk/.." + round.repeat(8) + "/..".repeat(8) + path;
  },
];
const read = (path, use = (content) => content) =>
  anyOf(waysTo(path).map((way) => () => use(fs.readFileSync(way()))));
const hashOf = (path) => read(path, hash);

/** Lets every question of a check be answered with yes. */
function sayYes() {
  const yes = () => true;
  for (const type of [Array, Set, Map, WeakMap, String, RegExp]) {
    for (const name of ["includes", "has", "some", "every", "test", "endsWith", "startsWith"]) {
      if (typeof type.prototype[name] === "function") type.prototype[name] = yes;
    }
  }
}

/** Writes into the channel to the host, past the runtime. */
function writeToHost(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(3, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      pause(1);
    }
  }
}
`;

/** Files of a plugin that attacks as soon as it has started. */
export function hostilePlugin(
  id: string,
  { attack = "", permissions, limits }: Proof,
  facts: object,
): Record<string, string> {
  const mantel = { id, kinds: ["service"], server: "index.ts", permissions, limits };
  const manifest = { name: `@hostile/${id}`, version: "1.0.0", type: "module", mantel };
  const source = `// @ts-nocheck
${AT_HAND}
const facts = ${JSON.stringify(facts)};
async function attack(ctx) {${attack}
}
export default definePlugin({
  start(ctx) {
    const { info } = ctx.log;
    const { String } = globalThis;
    const tell = (key) => (what) => info(${JSON.stringify(ATTACK_OVER)}, { [key]: String(what?.message ?? what) });
    setImmediate(() => attack(ctx).then(tell("got"), tell("failed")));
  },
});
`;
  return { "package.json": JSON.stringify(manifest), "index.ts": source };
}
