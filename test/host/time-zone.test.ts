import assert from "node:assert/strict";
import { afterEach, test, type TestContext } from "node:test";
import { machineTimeZone } from "../../host/time-zone.ts";
import { zoneFile } from "../../host/zone-file.js";

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
  const file = fileOfZone(t);
  if (file === undefined) return;
  delete process.env["TZ"];
  compiledWith("Asia/Tokyo", file);
  assert.equal(machineTimeZone(), "Asia/Tokyo");
});

test("another zone than at that time, and TZ, override that name", (t) => {
  const file = fileOfZone(t);
  if (file === undefined) return;
  delete process.env["TZ"];
  const asked = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  compiledWith("Asia/Tokyo", "/usr/share/zoneinfo/Asia/Tokyo.then");
  assert.equal(machineTimeZone(), asked);
  compiledWith("Asia/Tokyo", file);
  process.env["TZ"] = "Europe/Berlin";
  assert.equal(machineTimeZone(), "Europe/Berlin");
});

/** The constant that compiling puts into the host. */
function compiledWith(zone: string, file: string): void {
  Object.assign(globalThis, { COMPILED_TIME_ZONE: { zone, file } });
}

function fileOfZone(t: TestContext): string | undefined {
  const file = zoneFile();
  if (file === undefined)
    t.skip("on this machine /etc/localtime does not lead to the file of a zone");
  return file;
}
