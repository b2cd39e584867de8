import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { Kernel } from "../../../host/modules/process/sandbox/kernel.ts";
import { WarmProcessPool } from "../../../host/modules/process/warm-process.ts";

const UNCONFINED = new Kernel({
  bubblewrap: undefined,
  reason: "these tests start no process",
  remedy: "",
});

test("the last of several concurrent reloads starts the next warm process, also when it fails", async () => {
  const warmProcesses = new WarmProcessPool(UNCONFINED);
  const ends = new EventEmitter();
  const warmed: string[] = [];
  const reload = (name: string, work: () => Promise<unknown>) =>
    warmProcesses.whileReloading(work, () => void warmed.push(name));
  const first = reload("first", () => once(ends, "first"));
  const second = reload("second", () => once(ends, "second"));

  ends.emit("first");
  await first;
  assert.deepEqual(warmed, []);
  ends.emit("error", new Error("wrong code")); // which is how `once` fails
  await assert.rejects(second, /wrong code/);
  assert.deepEqual(warmed, ["second"]);

  await reload("third", async () => undefined);
  assert.deepEqual(warmed, ["second", "third"]);
});

test("a process that cannot be started leaves no network folder", () => {
  const folder = import.meta.filename; // no folder can be made there
  const bubblewrap = { program: "/usr/bin/bwrap", folder, filter: Buffer.alloc(8) };
  const warmProcesses = new WarmProcessPool(new Kernel({ bubblewrap, reason: null }));
  const network = "proxied" as const;
  const sandbox = { readable: [], writable: [], hasOpenNetwork: false, hasPrograms: false };
  const settings = {
    memoryMiB: 64,
    cpuPercent: 50,
    childProcesses: false,
    folder: tmpdir(),
    flags: [],
    sandbox,
    network,
    hosts: ["a.test"],
  };

  const packages = { id: "a", folder: tmpdir(), compiled: "", vendor: undefined };

  assert.throws(
    () =>
      warmProcesses.take({
        settings,
        packages: { ...packages, dataFolder: "", permissions: {}, network },
      }),
    { code: "ENOTDIR" },
  );

  const isOurs = (name: string) => name.startsWith(`mantel-net-${process.pid}-`);
  assert.deepEqual(readdirSync(tmpdir()).filter(isOurs), []);
});

test("nested reloads leave the start of the next warm process to the outer one", async () => {
  const warmProcesses = new WarmProcessPool(UNCONFINED);
  const warmed: string[] = [];

  await warmProcesses.whileReloading(async () => {
    for (const name of ["first", "second"]) {
      await warmProcesses.whileReloading(
        async () => undefined,
        () => void warmed.push(name),
      );
    }
    assert.deepEqual(warmed, []);
  });
  assert.deepEqual(warmed, ["second"]);

  await warmProcesses.whileReloading(async () => undefined);
  assert.deepEqual(warmed, ["second"]);
});
