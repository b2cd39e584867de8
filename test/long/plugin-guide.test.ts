import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test, type TestContext } from "node:test";
import { type Block, blocksIn, shows } from "../docs/guide-blocks.ts";
import { linkParts, readGuide, save } from "../docs/guide-home.ts";
import { Terminal } from "../docs/terminal.ts";
import { freePort } from "../helpers/free-port.ts";
import { startHost } from "../helpers/host.ts";
import { bundledProgram } from "../helpers/script.ts";
import { until } from "../helpers/until.ts";

/** A saved file is live, and a device asked again, within this; a busy machine takes its time. */
const SETTLED_MS = 20_000;

test("each step of the plugin guide has the described result", async (t) => {
  const reader = await startReader(t);

  for (const block of blocksIn(reader.guide)) await reader.follow(block);
});

/** Somebody with the guide, a host that runs, and a folder that looks like the repository. */
async function startReader(t: TestContext) {
  const host = await startHost(t, { plugins: [], args: ["--consent-on-save"] }); // as `npm run dev`
  const home = dirname(host.plugins);
  await linkParts(home, ["host", "package.json", "plugin-sdk", "scripts"]);
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const terminal = Terminal.open(t, home, { ...environment, MANTEL_DATA: host.data });

  const tests = await bundledProgram("scripts/test.ts"); // from its sources each of nine runs would load for 2 s
  const ask = async (commands: string, shown: unknown): Promise<true> => {
    const { code, output } = await terminal.run(commands);
    assert.equal(code, 0, output);
    const answer = shown === null || (JSON.parse(lastLine(output)) as unknown);
    assert.ok(shown === null || shows(shown, answer), `${commands}\nanswers ${lastLine(output)}`);
    return true;
  };
  return {
    guide: (await readGuide())
      .join("\n")
      .replaceAll("http://127.0.0.1:8470", host.url)
      .replaceAll("8480", String(await freePort()))
      .replaceAll(/^npm test/gm, `node "${tests}"`), // which installs nothing first
    async follow(block: Block): Promise<void> {
      if (block.kind !== "commands") await save(home, block);
      else if (!mayRepeat(block.text)) await ask(block.text, block.answer);
      else {
        const shown = until(() => ask(block.text, block.answer), { withinMs: SETTLED_MS });
        await shown.catch(({ cause }: Error) => assert.fail(`${String(cause)}\n${host.log()}`));
      }
    },
  };
}

/** A reading, or a scene, which does no harm twice, is repeated until it shows what was saved before. */
function mayRepeat(commands: string): boolean {
  return /^api \S+(\/activate -X POST)?$/.test(commands);
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}
