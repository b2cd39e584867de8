import assert from "node:assert/strict";
import { test } from "node:test";
import { SourceFiles } from "../../../host/modules/lifecycle/source-files.ts";

test("the files of a module are those of both sides, and another set once other code runs", () => {
  const files = new SourceFiles();
  const [server, widget] = [new Set(["/index.ts", "/both.ts"]), ["/widget.ts", "/both.ts"]];

  const first = files.of(server, widget);

  assert.deepEqual([...first], ["/index.ts", "/both.ts", "/widget.ts"]);
  assert.equal(files.of(server, widget), first);
  assert.notEqual(files.of(new Set(server), widget), first);
  assert.deepEqual([...files.of(undefined, [...widget])], widget);
});
