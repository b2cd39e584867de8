import assert from "node:assert/strict";
import { test } from "node:test";
import { toDisks, toTemperature } from "../../../plugins/system/hardware.ts";

const disk = (device: string, mount: string, totalBytes = 1_000) => ({
  device,
  mount,
  type: "ext4",
  totalBytes,
  usedBytes: 250,
});

test("a device that is mounted several times is one disk, under its shortest path", () => {
  const disks = toDisks([disk("/dev/sda1", "/var/lib/docker"), disk("/dev/sda1", "/")]);

  assert.deepEqual(disks, [
    { mount: "/", type: "ext4", totalBytes: 1_000, usedBytes: 250, percent: 25 },
  ]);
});

test("file systems without a device are distinguished by their path", () => {
  const disks = toDisks([disk("tmpfs", "/run"), disk("tmpfs", "/tmp")]);

  assert.deepEqual(
    disks.map(({ mount }) => mount),
    ["/run", "/tmp"],
  );
});

test("file systems without a size and package images are not listed as disks", () => {
  const image = { ...disk("/dev/loop0", "/snap/core"), type: "squashfs" };

  assert.deepEqual(toDisks([disk("none", "/proc", 0), image]), []);
});

test("a machine without sensors has a temperature of null", () => {
  const none = { main: null, cores: [], max: null, socket: [], chipset: null };

  assert.deepEqual(toTemperature(none as never), { cpuC: null, sensors: [] });
});

test("each sensor has a name", () => {
  const temperature = toTemperature({
    main: 52,
    cores: [51, 53],
    max: 53,
    socket: [49],
    chipset: 61,
  });

  assert.deepEqual(temperature, {
    cpuC: 52,
    sensors: [
      { name: "core 1", celsius: 51 },
      { name: "core 2", celsius: 53 },
      { name: "socket 1", celsius: 49 },
      { name: "chipset", celsius: 61 },
    ],
  });
});
