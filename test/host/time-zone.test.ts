import assert from "node:assert/strict";
import { readlinkSync } from "node:fs";
import { afterEach, test, type TestContext } from "node:test";
import { machineTimeZone } from "../../host/time-zone.ts";

const LINK = "/etc/localtime";
const given = process.env["TZ"];

afterEach(() => {
  Reflect.deleteProperty(globalThis, "COMPILED_TIME_ZONE");
  if (given === undefined) delete process.env["TZ"];
  else process.env["TZ"] = given;
});

test("a host that runs from its sources asks Intl", () => {
  assert.equal(machineTimeZone(), new Intl.DateTimeFormat().resolvedOptions().timeZone);
});

test("a compiled host takes the name it was compiled with", (t) => {
  const target = linkTarget(t);
  if (target === undefined) return;
  delete process.env["TZ"];
  compiledWith("Asia/Tokyo", target);
  assert.equal(machineTimeZone(), "Asia/Tokyo");
});

test("a link that was changed since, and TZ, override that name", (t) => {
  const target = linkTarget(t);
  if (target === undefined) return;
  delete process.env["TZ"];
  const asked = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  compiledWith("Asia/Tokyo", "/usr/share/zoneinfo/Asia/Tokyo");
  assert.equal(machineTimeZone(), asked);
  compiledWith("Asia/Tokyo", target);
  process.env["TZ"] = "Europe/Berlin";
  assert.equal(machineTimeZone(), "Europe/Berlin");
});

/** The constant that compiling puts into the host. */
function compiledWith(zone: string, target: string): void {
  Object.assign(globalThis, { COMPILED_TIME_ZONE: { zone, target } });
}

function linkTarget(t: TestContext): string | undefined {
  try {
    return readlinkSync(LINK);
  } catch {
    t.skip(`this machine has no link ${LINK}`);
    return undefined;
  }
}
