import assert from "node:assert/strict";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { Compiler } from "../../../host/modules/build/compile.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

test("a bundle truncated by a crash is written again", async (t) => {
  const { compiler, folder } = await openCompiler(t);
  const { bundle } = await compiler.compile("one", folder, "index.ts");
  const whole = await readFile(bundle, "utf8");
  await truncate(bundle, 10);

  const again = await compiler.compile("one", folder, "index.ts");

  assert.equal(again.bundle, bundle);
  assert.equal(await readFile(bundle, "utf8"), whole);
});

test("a package that is missing is named with the place of its import", async (t) => {
  const { compiler, folder } = await openCompiler(t, 'import x from "not-there"; console.log(x);');

  await assert.rejects(
    compiler.compile("one", folder, "index.ts"),
    ({ code, message, extras }: MantelError) => {
      assert.equal(code, "reload_failed");
      assert.match(message, /^the package not-there is not installed; /);
      assert.deepEqual([extras.location?.file, extras.location?.line], ["index.ts", 1]);
      return true;
    },
  );
});

for (const [source, message] of [
  ['import { Slots } from "@mantel/plugin-sdk";', /^Slots .+ is now Semaphore$/],
  [
    'import type { MantelError, Turns } from "@mantel/plugin-sdk";',
    /^Turns .+ is now SerialQueue$/,
  ],
  ['import { MqttLink } from "@mantel/plugin-sdk/mqtt";', /^MqttLink .+ is now MqttClient$/],
  ['import * as all from "@mantel/plugin-sdk/speech";', /^@mantel.+speech is now @mantel.+i18n$/],
] as const) {
  test(`an old name of the SDK is refused with its line: ${source}`, async (t) => {
    const { compiler, folder } = await openCompiler(t, `// first line\n${source}`);

    await assert.rejects(
      compiler.compile("one", folder, "index.ts"),
      ({ code, message: text, extras }: MantelError) => {
        assert.equal(code, "reload_failed");
        assert.match(text, message);
        assert.deepEqual([extras.location?.file, extras.location?.line], ["index.ts", 2]);
        return true;
      },
    );
  });
}

test("an own name or a comment may have a name that the SDK once had", async (t) => {
  const source = `// import { Slots } from "@mantel/plugin-sdk";
    import { Semaphore as Slots } from "@mantel/plugin-sdk";
    import { SerialQueue as Turns } from "./queue.ts";
    console.log(Slots, Turns);`;
  const { compiler, folder } = await openCompiler(t, source);
  await writeFile(join(folder, "queue.ts"), "export class SerialQueue {}");

  const { inputs } = await compiler.compile("one", folder, "index.ts");

  assert.deepEqual([...inputs].toSorted(), [join(folder, "index.ts"), join(folder, "queue.ts")]);
});

async function openCompiler(t: TestContext, source = "export default 1;") {
  const home = await emptyFolder(t);
  const folder = join(home, "one");
  await mkdir(folder);
  await writeFile(join(folder, "index.ts"), source);
  const compiler = new Compiler(join(home, "cache"));
  onTestEnd(t, () => compiler.close());
  return { compiler, folder };
}
