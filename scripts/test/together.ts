// together.ts (FILE PATH)...: the tests of several files in this process, each file a suite. PATH is the code of FILE.

import { describe } from "node:test";
import { pathToFileURL } from "node:url";

const named = process.argv.slice(2);
for (let at = 0; at < named.length; at += 2) {
  const [file = "", path = ""] = named.slice(at, at + 2);
  // The suite is registered here, and its tests run one after another behind those of the file before.
  void describe(file, async () => {
    await import(pathToFileURL(path).href);
  });
}
