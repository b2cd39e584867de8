import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../../host/config/schema.ts";
import { findHost } from "../../host/data-lock.ts";
import type { RunOptions } from "../../host/options.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { holderOf } from "./holder.ts";
import { askMantel, type Health } from "./running.ts";

const port = findingsOf("port");
const host = findingsOf("host");

/** The port, and the host that answers there when one runs. */
export async function examineNetwork(options: RunOptions, config: Config): Promise<Finding[]> {
  const pid = await findHost(options.dataFolder).catch(() => undefined);
  const health = await askMantel(options, config);
  if (health) return [describe(health, pid)];
  const findings = await examinePort(options);
  if (pid === undefined) return findings;
  return [
    ...findings,
    host.warn(
      `a Mantel runs on this data folder (process ${pid}), and does not answer on port ${options.port}`,
      "give the doctor the --port and --host it was started with; if they are right, restart it",
    ),
  ];
}

function describe({ url, status, modules }: Health, pid: number | undefined): Finding {
  const who = `Mantel answers at ${url}`;
  if (pid === undefined) {
    const todo = "name its folder with --data, or take another --port for this one";
    return host.warn(`${who}, on another data folder than this`, todo);
  }
  const { active, failed } = modules;
  if (status === "pass") return host.ok(`${who}, and its ${active} modules work`);
  const says = `${who}; ${active} of its modules work, and ${failed} have failed`;
  const todo = "open the dashboard, or GET /api/v1/modules: each says there what is wrong with it";
  return status === "warn" ? host.warn(says, todo) : host.fail(says, todo);
}

async function examinePort({ port: number, address }: RunOptions): Promise<Finding[]> {
  const place = `port ${number} on ${address}`;
  const server = createServer().listen(number, address);
  try {
    await once(server, "listening");
    server.close();
    return [port.ok(`${place} is free`)];
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      const holder = (await holderOf(number)) ?? "another program";
      return [port.fail(`${place} is held by ${holder}`, "stop that, or take another --port")];
    }
    return [port.fail(`${place} cannot be used: ${message}`, WHAT_TO_DO[code] ?? "see --host")];
  }
}
const WHAT_TO_DO: Readonly<Record<string, string>> = {
  EACCES: "take a --port above 1023",
  EADDRNOTAVAIL: "this machine has no such address: name one it has with --host",
  ENOTFOUND: "name an address of this machine with --host",
};
