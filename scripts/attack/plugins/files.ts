import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Proof } from "../proof.ts";
import type { Stage } from "../stage.ts";

/** Attacks that read what a plugin was not given. */
export const FILES: readonly Proof[] = [
  {
    name: "read the signing key",
    heldFrom: "kernel",
    attack: `return hashOf(facts.data + "/keys.json");`,
    look: gotHashOf(({ facts }) => `${facts.data}/keys.json`),
  },
  {
    name: "read a file of the machine by a descriptor or a link",
    heldFrom: "kernel",
    attack: `return hashOf(facts.outside);`,
    look: gotHashOf(({ facts }) => facts.outside),
  },
  {
    name: "read /etc/shadow",
    heldFrom: "kernel",
    attack: `return hashOf("/etc/shadow");`,
    look: gotHashOf(() => "/etc/shadow"),
  },
  {
    name: "read the storage of another plugin",
    heldFrom: "kernel",
    attack: `return hashOf(facts.data + "/plugins/bystander/secret.json");`,
    look: gotHashOf(({ facts }) => `${facts.data}/plugins/bystander/secret.json`),
  },
  {
    name: "read the host's memory",
    heldFrom: "kernel",
    attack: `
  const fromMemory = async (pid) => {
    const stack = await read("/proc/" + pid + "/maps", (maps) => /^(\\w+)-(\\w+).*\\[stack\\]$/m.exec(maps));
    const [from, to] = [Number("0x" + stack[1]), Number("0x" + stack[2])];
    return anyOf(waysTo("/proc/" + pid + "/mem").map((way) => () => {
      const bytes = Buffer.alloc(Math.min(to - from, 65_536));
      fs.readSync(fs.openSync(way()), bytes, 0, bytes.length, to - bytes.length);
      return /MANTEL_CANARY=(\\w+)/.exec(bytes)?.[1];
    }));
  };
  return anyOf([facts.host, process.ppid].map((pid) => () => fromMemory(pid)));`,
    look: gotCanary,
  },
  {
    name: "read the host's environment",
    heldFrom: "kernel",
    attack: `
  const inEnvironment = (content) => /MANTEL_CANARY=(\\w+)/.exec(content)?.[1];
  const paths = [facts.host, process.ppid, "self", process.pid].map((pid) => "/proc/" + pid + "/environ");
  return anyOf([
    () => process.env.MANTEL_CANARY,
    ...paths.map((path) => () => read(path, inEnvironment)),
    () => inEnvironment(stringify(process.report.getReport())),
  ]);`,
    look: gotCanary,
  },
  {
    name: "read files past the permission model (process.loadEnvFile, openAsBlob, SQLite)",
    heldFrom: "permission-model",
    attack: `
  const database = () => new (builtin("sqlite").DatabaseSync)(":memory:");
  return anyOf([
    async () => hash(Buffer.from(await (await fs.openAsBlob(facts.outside)).arrayBuffer())),
    () => { process.loadEnvFile(facts.outside); return hash(process.env.OUTSIDE); },
    () => { fs.cpSync(facts.outside, "copy"); return hash(fs.readFileSync("copy")); },
    () => { fs.linkSync(facts.outside, "copy"); return hash(fs.readFileSync("copy")); },
    () => { fs.symlinkSync(facts.outside, "copy"); return hash(fs.readFileSync("copy")); },
    () => { database().exec("ATTACH '" + facts.data + "/keys.json' AS stolen"); return "attached"; },
  ]);`,
    look: async (stage, told) =>
      told.got === "attached"
        ? "SQLite attached the signing key"
        : gotHashOf(({ facts }) => facts.outside)(stage, told),
  },
];

function gotHashOf(path: (stage: Stage) => string): Proof["look"] {
  return async (stage, { got }) => {
    const content = await readFile(path(stage)).catch(() => undefined);
    if (got === undefined || content === undefined) return undefined;
    const isRead = createHash("sha256").update(content).digest("hex") === got;
    return isRead ? `read ${path(stage)}` : undefined;
  };
}

async function gotCanary(
  { canary }: Stage,
  { got }: { got?: string },
): Promise<string | undefined> {
  return got === canary ? "it has a secret of the host's environment" : undefined;
}
