import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions } from "../../host/options.ts";

test("without flags and variables, the home is on loopback and its folders are in the root", () => {
  assert.deepEqual(readOptions([], {}, "/home"), {
    help: false,
    port: 8470,
    address: "127.0.0.1",
    dataFolder: "/home/data",
    pluginFolders: ["/home/plugins"],
    inspect: new Map(),
  });
});

test("a flag overrides its variable, and an empty variable counts as absent", () => {
  const environment = {
    MANTEL_PORT: "1",
    MANTEL_HOST: "",
    MANTEL_DATA: "d",
    MANTEL_PLUGINS: "a::b",
  };

  const options = readOptions(["--port", "0", "--help"], environment, "/home");

  assert.deepEqual(options, {
    help: true,
    port: 0,
    address: "127.0.0.1",
    dataFolder: "d",
    pluginFolders: ["a", "b"],
    inspect: new Map(),
  });
});

const MISTAKES: readonly [args: string[], says: RegExp][] = [
  [["--nope"], /--nope/],
  [["word"], /word/],
  [["--host"], /--host/],
  [["--host", ""], /--host is empty/],
  [["--port", "65536"], /not 65536/],
  [["--port", "1e3"], /not 1e3/],
  [["--port=-1"], /not -1/],
];

for (const [args, message] of MISTAKES) {
  test(`${JSON.stringify(args)} is refused`, () => {
    assert.throws(() => readOptions(args, {}, "/home"), { code: "bad_request", message });
  });
}

test("modules that a debugger may attach to are named with or without a port", () => {
  const args = ["--inspect", "calendar", "--inspect=mqtt=9300", "--inspect", "demo-home"];

  const { inspect } = readOptions(args, {}, "/home");

  assert.deepEqual(Object.fromEntries(inspect), { calendar: 9229, mqtt: 9300, "demo-home": 9231 });
  assert.throws(() => readOptions(["--inspect", "A b"], {}, "/home"), /needs a module id .*"A b"/);
  assert.throws(
    () => readOptions(["--inspect", "mqtt=x"], {}, "/home"),
    /the port must be a number/,
  );
});
