import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, utimes, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { VersionStore } from "../../../host/modules/versions/version-store.ts";
import { readOptions } from "../../../host/options.ts";
import { examineBroker } from "../../../scripts/doctor/broker.ts";
import { examineClock } from "../../../scripts/doctor/clock.ts";
import { readConfig } from "../../../scripts/doctor/config.ts";
import { examineConfinement } from "../../../scripts/doctor/confinement.ts";
import { examineData } from "../../../scripts/doctor/data.ts";
import type { Finding } from "../../../scripts/doctor/finding.ts";
import { examineMachine } from "../../../scripts/doctor/machine.ts";
import { examineNetwork } from "../../../scripts/doctor/network.ts";
import { examinePlugins } from "../../../scripts/doctor/plugins.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { freePort } from "../../helpers/free-port.ts";
import { startMosquitto, withoutMosquitto } from "../../helpers/mosquitto.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

/** One line for each finding that is not ok. */
function troubles(findings: readonly Finding[]): string {
  return findings
    .filter(({ status }) => status !== "ok")
    .map(({ status, says, todo }) => `${status}: ${says} → ${todo}`)
    .join("\n");
}

const configFor = async (variables: NodeJS.ProcessEnv, folder = "/nowhere") =>
  (await readConfig(folder, variables)).config;

test("a kernel that does not confine plugins is reported, with the command to fix it", async (t) => {
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  onTestEnd(t, async () => void (process.env["PATH"] = path));

  assert.equal(
    troubles(await examineConfinement()),
    "warn: plugins run without the kernel's sandbox: bubblewrap is not installed → apt-get install bubblewrap, then restart",
  );
});

test("a data folder that is a file, or inside one, is reported", async (t) => {
  const file = join(await emptyFolder(t), "file");
  await writeFile(file, "");

  assert.match(troubles(await examineData(file)), /^fail: .+file is a file → .+--data$/);
  assert.match(troubles(await examineData(join(file, "data"))), /^fail: .+ENOTDIR/);
});

test("too open permissions are reported, of the folder and of its files", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "keys.json"), "{}");
  await chmod(join(folder, "keys.json"), 0o644);
  await chmod(folder, 0o755);

  const said = troubles(await examineData(folder));

  assert.match(said, /^warn: other users .+ can read .+ → chmod 700 /m);
  assert.match(said, /^warn: other users .+ can read .+keys\.json → chmod 600 /m);
});

test("damaged documents are reported with their location and not changed", async (t) => {
  const folder = await emptyFolder(t);
  const files = {
    "devices.json": '{"numbers":',
    "layout.json": '{"pages":7}',
    "tokens.jsonl": '{"jti":"a"}\n{"jt',
    "config.json.damaged-2026": "x",
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
  }

  const said = troubles(await examineData(folder));

  assert.match(said, /^fail: .+devices\.json is damaged: .+line 1/m);
  assert.match(said, /^fail: .+layout\.json is damaged: the layout is invalid/m);
  assert.match(said, /^warn: 1 of 2 lines of .+tokens\.jsonl cannot be read/m);
  assert.match(said, /^warn: .+damaged-2026 is a damaged document that was set aside/m);
});

const mountable = process.getuid?.() === 0 && process.platform === "linux";

test(
  "a full disk and a read-only one are distinguished",
  {
    skip: mountable ? false : "only root can mount one",
  },
  async (t) => {
    const folder = await emptyFolder(t);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", folder]);
    } catch {
      return t.skip("nothing can be mounted here");
    }
    onTestEnd(t, async () => void execFileSync("umount", [folder]));

    const small = troubles(await examineData(folder));
    await writeFile(join(folder, "filler"), Buffer.alloc(2 ** 20)).catch(() => undefined);
    const full = troubles(await examineData(folder));
    execFileSync("mount", ["-o", "remount,ro", folder]);
    const readOnly = troubles(await examineData(folder));

    assert.match(small, /^fail: 1 MiB are free/);
    assert.match(full, /nothing can be written to .+: the disk is full → free some space/);
    assert.match(
      readOnly,
      /nothing can be written to .+: the disk is read-only → mount it writable/,
    );
  },
);

test("an invalid config, an invalid variable and an unknown variable are reported", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "config.json"), '{"ui":{"theme":"pink"}}');
  const variables = { MANTEL_LOG_LEVEL: "loud", MANTEL_PROT: "1" };

  const said = troubles((await readConfig(folder, variables)).findings);

  assert.match(said, /^fail: .+config\.json: the config is invalid: \/ui\/theme/m);
  assert.match(said, /^fail: MANTEL_LOG_LEVEL is invalid/m);
  assert.match(said, /^warn: unknown variable MANTEL_PROT/m);
});

test("a missing plugin folder and a broken manifest are reported", async (t) => {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, "lamp"));
  await writeFile(join(folder, "lamp/package.json"), '{"mantel":{"id":"lamp"}}');

  const places = { folders: [folder, join(folder, "none")], dataFolder: folder, shipped: folder };
  const said = troubles(await examinePlugins(places, await configFor({})));

  assert.match(said, /^fail: the plugin folder .+none cannot be read: it does not exist/m);
  assert.match(said, /^fail: .+lamp\/package\.json is invalid: /m);
});

test("a broken plugin of which the last working version runs is reported as such", async (t) => {
  const home = await emptyFolder(t);
  const [folder, cache] = [join(home, "plugins"), join(home, "cache")];
  const log = new ModuleLog(collectedLog());
  const widget = { hash: "1", code: "", map: "", inputs: [] };
  for (const [id, text] of [
    ["clock", '{"mantel":{"id":"clock"}}'],
    ["lamp", "{}"],
  ] as const) {
    const manifest = { id, kinds: ["widget" as const], widget: "widget.ts" };
    const plugin = { id, folder: join(folder, id), version: "1.2.0", manifest };
    await new VersionStore(cache).storeWidget(plugin, widget, log);
    await mkdir(join(folder, id), { recursive: true });
    await writeFile(join(folder, id, "package.json"), text);
  }

  const places = { folders: [folder], dataFolder: home, shipped: folder };
  const said = troubles(await examinePlugins(places, await configFor({})));

  const todo = "correct the plugin; its changes have no effect until then";
  const [clock = "", lamp = ""] = said.split("\n").toSorted();
  assert.match(
    clock,
    /^warn: .+clock\/package\.json is invalid: .+; Mantel runs clock 1\.2\.0 as it was before → /,
  );
  assert.match(lamp, /^warn: .+lamp.+; Mantel runs lamp 1\.2\.0 as it was before → /);
  assert.ok(clock.endsWith(todo) && lamp.endsWith(todo));
});

test("two plugins with one bridge kind are reported", async (t) => {
  const folder = await emptyFolder(t);
  for (const id of ["lamp", "lamp-2"]) {
    const bridge = { kind: "lamp", commandsPerSecond: 1 };
    const mantel = { id, kinds: ["bridge"], server: "index.ts", bridge };
    await mkdir(join(folder, id));
    await writeFile(join(folder, id, "package.json"), JSON.stringify({ name: id, mantel }));
  }

  const places = { folders: [folder], dataFolder: folder, shipped: folder };
  const said = troubles(await examinePlugins(places, await configFor({})));

  assert.match(said, /^fail: lamp-2 and lamp both have the bridge kind lamp, /);
});

test("the process that uses the port is named, and a foreign address is reported", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const port = String((server.address() as AddressInfo).port);
  const ask = async (...args: string[]) =>
    troubles(await examineNetwork(readOptions(args, {}, "/nowhere"), await configFor({})));

  const taken = await ask("--port", port);
  const foreign = await ask("--port", port, "--host", "203.0.113.9");

  assert.match(
    taken,
    new RegExp(`^fail: port ${port} .+ is in use by .+ \\(process ${process.pid}\\)`),
  );
  assert.match(foreign, /^fail: .+203\.0\.113\.9.+ → this machine does not have this address/);
});

test(
  "an unreachable broker and a refused password are reported",
  {
    skip: withoutMosquitto,
  },
  async (t) => {
    const broker = await startMosquitto(t, { users: { mantel: "right" } });
    const at = (login: string, port: number) =>
      configFor({ MANTEL_MQTT_URL: `mqtt://${login}@127.0.0.1:${port}` });

    const right = await examineBroker(await at("mantel:right", broker.port));
    const wrong = troubles(await examineBroker(await at("mantel:wr0ng", broker.port)));
    const away = troubles(await examineBroker(await at("mantel:right", await freePort())));

    assert.deepEqual(
      right.map(({ status }) => status),
      ["ok"],
    );
    assert.match(wrong, /^fail: .+ refuses the user name or the password/);
    assert.doesNotMatch(wrong, /wr0ng/);
    assert.match(away, /^fail: nothing listens at 127\.0\.0\.1:\d+ → start the broker/);
  },
);

test("a clock that is far off, went back or is not synchronized is reported", async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, "config.json");
  await writeFile(file, "{}");
  const future = Date.now() / 1_000 + 86_400;
  await utimes(file, future, future);
  const program = join(await emptyFolder(t), "timedatectl");
  await writeFile(program, "#!/bin/sh\necho no\n", { mode: 0o755 });
  const { PATH } = process.env;
  t.after(() => (process.env["PATH"] = PATH));
  process.env["PATH"] = [join(program, ".."), PATH].join(delimiter);

  const said = troubles(await examineClock(folder));
  const young = troubles(await examineClock("/nowhere", 0));

  assert.match(said, /^fail: the clock has gone back: config\.json was written at /m);
  assert.match(said, /^warn: the clock is not set by the network/m);
  assert.match(young, /^fail: the clock says it is the year 1970 → /m);
});

test("low memory, few file watches and missing sensors are reported", async (t) => {
  const root = await emptyFolder(t);
  await mkdir(join(root, "proc/sys/fs/inotify"), { recursive: true });
  await writeFile(join(root, "proc/meminfo"), "MemTotal: 262144 kB\nMemAvailable:   65536 kB\n");
  await writeFile(join(root, "proc/sys/fs/inotify/max_user_watches"), "100\n");

  const said = troubles(await examineMachine(root));

  assert.match(said, /^warn: 64 MiB of memory are available/m);
  assert.match(said, /^warn: the limit for watched files is only 100 .+sysctl/m);
  assert.match(said, /^warn: no temperature sensors found/m);
});
