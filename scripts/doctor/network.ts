import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../../host/config/schema.ts";
import { findRunningHost } from "../../host/data-lock.ts";
import type { RunOptions } from "../../host/options.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { requestHealth, type Health } from "./health.ts";
import { findPortHolder } from "./port-holder.ts";

const port = findingsOf("port");
const host = findingsOf("host");

/** Checks the port and, if a host is running, its health. */
export async function examineNetwork(options: RunOptions, config: Config): Promise<Finding[]> {
  const pid = await findRunningHost(options.dataFolder).catch(() => undefined);
  const health = await requestHealth(options, config);
  if (health) return [describe(health, pid)];
  const findings = await examinePort(options);
  if (pid === undefined) return findings;
  return [
    ...findings,
    host.warn(
      `Mantel runs with this data folder (process ${pid}) but does not answer on port ${options.port}`,
      "run the doctor with the same --port and --host as Mantel; if they are right, restart Mantel",
    ),
  ];
}

function describe({ url, status, modules }: Health, pid: number | undefined): Finding {
  const who = `Mantel answers at ${url}`;
  if (pid === undefined) {
    const todo = "pass its folder with --data, or use another --port for this one";
    return host.warn(`${who}, but with another data folder`, todo);
  }
  const { active, failed } = modules;
  if (status === "pass") return host.ok(`${who}; all ${active} modules work`);
  const says = `${who}; ${active} modules work, ${failed} failed`;
  const todo = "see the reason of each module on the dashboard or with GET /api/v1/modules";
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
      const holder = (await findPortHolder(number)) ?? "another program";
      return [port.fail(`${place} is in use by ${holder}`, "stop it, or use another --port")];
    }
    return [port.fail(`${place} cannot be used: ${message}`, WHAT_TO_DO[code] ?? "see --host")];
  }
}
const WHAT_TO_DO: Readonly<Record<string, string>> = {
  EACCES: "use a --port above 1023",
  EADDRNOTAVAIL: "this machine does not have this address; pass one of its addresses with --host",
  ENOTFOUND: "pass an address of this machine with --host",
};
