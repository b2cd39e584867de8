import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HOUR_MS } from "../../plugins/recorder/statistics.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { bundledProgram } from "../helpers/script.ts";
import { until } from "../helpers/until.ts";

const DISK_MIB = 16;
const DAYS = 3;
const PROGRAM = "test/helpers/filled-history-program.ts";
const WARNING = "the disk is full; the oldest reports are deleted";
const LONG = { withinMs: 90_000 };
/** Fills up to this many bytes that stay free, which is less than SQLite writes until its log begins again. */
const LEFT_BYTES = 64 * 1_024;

/** A bridge with a lamp, and with sensors that report 500 values a second. */
const STORM = `
import { definePlugin } from "@mantel/plugin-sdk";
const capabilities = { temperature: { type: "number", unit: "°C", readOnly: true } } as const;
export default definePlugin({
  async start({ devices, onDispose }) {
    const sensors = Array.from({ length: 40 }, (_, at) => ({
      nativeId: String(at), kind: "sensor", name: "Sensor " + at, capabilities, state: { temperature: 20 },
    }));
    await devices.publish([...sensors, {
      nativeId: "lamp", kind: "light", name: "Lamp", capabilities: { on: { type: "boolean" } }, state: { on: false },
    }] as never);
    let next = 0;
    const timer = setInterval(() => {
      for (let count = 0; count < 50; count++) {
        next++;
        devices.update({ nativeId: String(next % 40), state: { temperature: Math.round(Math.random() * 1e4) / 100 } });
      }
    }, 100);
    onDispose(() => clearInterval(timer));
    return { command: async (nativeId, state) => devices.update({ nativeId, state }) };
  },
});
`;

/** Mounts a small disk at `$1`, fills the history in it by the program `$2`, and becomes the rest. */
const ENTER = `
mount -t tmpfs -o size=${DISK_MIB}m tmpfs "$1" && "$2" "$3" "$1/history.sqlite" ${DAYS} "$4" && shift 4 && exec "$@"
`;

const mayMount = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
const skip =
  mayMount.status === 0
    ? false
    : `cannot mount a small disk: ${String(mayMount.stderr ?? mayMount.error)}`;

test(
  "on a full disk the home continues, the oldest reports give way, and there is one warning",
  { skip },
  async (t) => {
    const now = Date.now();
    const { host, fill, empty } = await hostOnSmallDisk(t, now);
    const oldest = now - DAYS * 24 * HOUR_MS;
    assert.ok((await reports(host, oldest, 24)) > 1_000);

    await fill();
    await until(() => host.log().includes(WARNING), LONG);
    await until(async () => (await reports(host, oldest, 22)) === 0, LONG); // the oldest day is deleted
    await until(async () => (await reports(host, now - 24 * HOUR_MS, 23)) > 1_000, LONG);
    assert.ok(
      (await statistics(host, oldest)).some((mean) => mean !== null),
      "its statistics stay",
    );
    await fill(); // also takes what the history had kept free
    for (let round = 0; round < 3; round++) {
      const before = Date.now();
      assert.equal(await lamp(host, round % 2 === 0), 200);
      await until(async () => (await reports(host, before, 1)) > 10, LONG);
    }

    const warnings = host
      .log()
      .split("\n")
      .filter((line) => line.includes(WARNING));
    assert.equal(warnings.length, 1, warnings.join("\n"));
    await empty();
    await until(
      async () =>
        ((await (await host.api("/modules/recorder")).json()) as { state: string }).state ===
        "active",
      LONG,
    );
  },
);

/** A host whose history lies on a disk of its own. `fill` takes all free bytes of that disk but a few; `empty` returns them. */
async function hostOnSmallDisk(t: TestContext, now: number) {
  const data = join(await emptyFolder(t), "data");
  const folder = join(data, "history");
  await mkdir(folder, { recursive: true });
  const program = await bundledProgram(PROGRAM);
  const through = [
    "unshare",
    "--mount",
    "sh",
    "-c",
    ENTER,
    "sh",
    folder,
    process.execPath,
    program,
    String(now),
  ];
  const host = await startHost(t, {
    data,
    plugins: ["plugins/recorder"],
    through,
  });
  const mantel = {
    id: "storm",
    kinds: ["bridge"],
    server: "index.ts",
    bridge: { kind: "storm", commandsPerSecond: 10 },
  };
  await mkdir(join(host.plugins, "storm"));
  await writeFile(join(host.plugins, "storm/index.ts"), STORM);
  await writeFile(
    join(host.plugins, "storm/package.json"),
    JSON.stringify({ name: "storm", type: "module", mantel }),
  );
  await until(async () => (await reports(host, now, 1)) > 10, LONG);

  const disk = join(`/proc/${host.pid}/root`, folder);
  let files = 0;
  return {
    host,
    fill: async () => {
      const { bavail, bsize } = await statfs(disk);
      const bytes = bavail * bsize - LEFT_BYTES;
      if (bytes > 0) await writeFile(join(disk, `ballast-${++files}`), Buffer.alloc(bytes));
    },
    empty: async () => {
      for (let file = 1; file <= files; file++) await rm(join(disk, `ballast-${file}`));
    },
  };
}

/** The number of reports of a sensor in some hours from an instant. */
async function reports(host: TestHost, from: number, hours: number): Promise<number> {
  const answer = await host.api(`/history/export?${spanOf(from, hours)}&format=csv`);
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.text()).trim().split("\n").length - 1;
}

async function statistics(host: TestHost, from: number): Promise<(number | null)[]> {
  const answer = await host.api(`/history/statistics?${spanOf(from, 24)}&period=hour`);
  const { statistics: hours } = (await answer.json()) as { statistics: { mean: number | null }[] };
  return hours.map(({ mean }) => mean);
}

function spanOf(from: number, hours: number): string {
  const [start, end] = [from, from + hours * HOUR_MS].map((at) => new Date(at).toISOString());
  return String(
    new URLSearchParams({
      device: "storm:sensor:1",
      field: "temperature",
      from: start ?? "",
      to: end ?? "",
    }),
  );
}

/** Switches a lamp, and returns the status of the answer. */
async function lamp(host: TestHost, on: boolean): Promise<number> {
  const { status } = await host.api("/smart-home/devices/storm:light:1/command", {
    method: "POST",
    json: { on },
  });
  return status;
}
