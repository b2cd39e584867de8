import assert from "node:assert/strict";
import { test } from "node:test";
import { MachineDisks, parseDisks } from "../../../host/machine/disks.ts";

/** `df -kPT` of a machine with a name that holds spaces. */
const LISTING = `Filesystem           Type     1024-blocks      Used Available Capacity Mounted on
/dev/mapper/vg-root  ext4        20466256   5311020  14090244      28% /
tmpfs                tmpfs         405200      1184    404016       1% /run
//nas/my share       cifs       976630464 400000000 576630464      41% /mnt/my share
`;

test("disks are read from a listing of df, also with spaces in names", () => {
  const disks = parseDisks(LISTING, true);

  assert.deepEqual(
    disks.map(({ device, type, mount }) => [device, type, mount]),
    [
      ["/dev/mapper/vg-root", "ext4", "/"],
      ["tmpfs", "tmpfs", "/run"],
      ["//nas/my share", "cifs", "/mnt/my share"],
    ],
  );
  assert.equal(disks[0]?.totalBytes, 20466256 * 1024);
  assert.equal(disks[0]?.usedBytes, 5311020 * 1024);
});

test("a listing without types gives disks without types", () => {
  const [disk] = parseDisks(
    "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/disk1 100 40 60 40% /\n",
    false,
  );

  assert.deepEqual(disk, {
    device: "/dev/disk1",
    mount: "/",
    type: "",
    totalBytes: 102_400,
    usedBytes: 40_960,
  });
});

test("the machine's own root is among its disks", async () => {
  const disks = await new MachineDisks().list();

  assert.ok(disks.some(({ mount, totalBytes }) => mount === "/" && totalBytes > 0));
});
