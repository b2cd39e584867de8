import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublic, pinAddresses } from "../../../plugins/calendar/web/address.ts";

test("loopback, local network and special addresses are not public", () => {
  const special = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "fe80::1",
    "fd00::1",
    "ff02::1",
    "2002:7f00:1::",
    "2001:db8::1",
  ];

  assert.deepEqual(special.filter(isPublic), []);
});

test("ordinary addresses are public", () => {
  const ordinary = [
    "1.1.1.1",
    "9.255.255.255",
    "172.32.0.1",
    "192.167.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
  ];

  assert.deepEqual(
    ordinary.filter((each) => !isPublic(each)),
    [],
  );
});

test("literal addresses and names of this machine are refused in every spelling", async () => {
  const spellings = [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://localhost/",
  ];

  for (const spelling of spellings) {
    await assert.rejects(
      pinAddresses(new URL(spelling), false),
      { code: "invalid", message: /private network/ },
      spelling,
    );
  }
});

test("private addresses are pinned where they are allowed", async () => {
  assert.deepEqual(await pinAddresses(new URL("http://127.0.0.1/"), true), [
    { address: "127.0.0.1", family: 4 },
  ]);
});
