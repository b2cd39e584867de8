import { basename } from "node:path";
import { parseArgs } from "node:util";
import { ConfigStore } from "../host/config/store.ts";
import { openDataFolder } from "../host/folders.ts";
import { openLog } from "../host/log.ts";
import { openRunningHost } from "./running-host.ts";
import { instantOf, linesOf, type Simulated } from "./simulate/timeline.ts";

const USAGE = `Simulates an automation in the past of the home, and prints what would have happened. Mantel must be running.

  npm run simulate -- automations/evening.ts [--from yesterday] [--to INSTANT] [--demo]

  The automation is a file, or the id of a document.

  --from  yesterday, today, a date such as 2026-11-20, or an instant; default: a day before --to
  --to    likewise; default: now, or a day after --from
  --demo  use a made-up home instead of the recorded one
  --data  the data folder; default: MANTEL_DATA, or ./data
  --port  the port of the running host; default: MANTEL_PORT, or 8470
`;
const DAY_MS = 24 * 60 * 60_000;

async function main(): Promise<number> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      from: text,
      to: text,
      data: text,
      port: text,
      demo: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const [automation, second] = positionals;
  if (automation === undefined || second !== undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  const now = new Date();
  const from = values.from === undefined ? undefined : instantOf(values.from, now);
  const dayAfter = from && new Date(Math.min(from.getTime() + DAY_MS, now.getTime()));
  const to = values.to === undefined ? dayAfter : instantOf(values.to, now);
  const { MANTEL_DATA = "./data", MANTEL_PORT = "8470" } = process.env;
  const data = await openDataFolder(values.data ?? MANTEL_DATA);
  const log = openLog("warn", Boolean(process.stderr.isTTY));
  const config = await ConfigStore.open({ dataFolder: data, environment: {}, log });
  try {
    const port = Number(values.port ?? MANTEL_PORT);
    const host = await openRunningHost("simulate", "read", { data, port, config, log });
    try {
      const body = {
        id: basename(automation),
        source: values.demo ? "demo" : "recorded",
        ...(from && { from: from.toISOString() }),
        ...(to && { to: to.toISOString() }),
      };
      const simulated = await host.ask({ method: "POST", path: "/automations/simulate", body });
      const lines = linesOf(simulated as Simulated, config.current.ui.timeZone);
      process.stdout.write(`${lines.join("\n")}\n`);
      return 0;
    } finally {
      await host.close();
    }
  } finally {
    await config.close();
  }
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`simulate: ${error.message}\n`);
  return 1;
});
