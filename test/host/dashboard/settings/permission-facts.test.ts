import assert from "node:assert/strict";
import { test } from "node:test";
import { permissionFacts } from "../../../../host/dashboard/settings/permission-facts.ts";

const NONE = {
  hosts: [],
  openNetwork: null,
  folders: [],
  listen: false,
  childProcesses: false,
  workerThreads: false,
  nativeAddons: false,
  sqlite: false,
  home: { read: [], control: [] },
  provides: [],
  uses: [],
  paths: [],
  added: [],
};

test("folders that can be written are listed apart from read-only ones", () => {
  const permissions = { ...NONE, folders: ["/sys/class", "calendars", "/proc"] };

  assert.deepEqual(permissionFacts({ permissions }), [
    ["May read", "/sys/class, /proc"],
    ["May read and write", "calendars"],
  ]);
});

test("a module shows which parts of the home it reads and controls", () => {
  const permissions = { ...NONE, home: { read: ["*", "calendar"], control: ["light:*"] } };

  assert.deepEqual(permissionFacts({ permissions }), [
    ["Reads of the home", "*, calendar"],
    ["Controls in the home", "light:*"],
  ]);
});

test("a module without permissions shows that it requests none", () => {
  assert.deepEqual(permissionFacts({ permissions: NONE }), [
    ["Permissions", "No permissions requested."],
  ]);
});
