import assert from "node:assert/strict";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const PROVIDES = { provides: ["broker.address"] };
const source = (word: string) => `
import { definePlugin, brokerAddress, provide } from "@mantel/plugin-sdk";
${word}
export default definePlugin({
  start: () => ({ services: [provide(brokerAddress, async () => ({ url: word }))] }),
});
`;

/** Modules, and a folder beside theirs in which somebody works. */
async function startBeside(
  t: Parameters<typeof startModules>[0],
  plugins: Parameters<typeof startModules>[1],
) {
  const modules = await startModules(t, plugins);
  const { home, config, services } = modules;
  const elsewhere = join(home, "elsewhere");
  return {
    ...modules,
    elsewhere,
    work: async (file: string, content: string) => {
      await mkdir(dirname(join(elsewhere, file)), { recursive: true });
      await writeFile(join(elsewhere, file), content);
    },
    allow: (id: string, links: boolean) =>
      config.patch({ modules: { [id]: { links } } }, { admin: true }),
    answers: (word: string) =>
      until(
        async () => ((await services.call("broker.address", {})) as { url: string }).url === word,
      ),
  };
}

test("a plugin folder that is a link runs when the config allows it by name", async (t) => {
  const { registry, root, elsewhere, work, allow, answers } = await startBeside(t, {});
  await work("package.json", packageJson("linked", PROVIDES));
  await work("index.ts", source('import { word } from "./word.ts";'));
  await work("word.ts", 'export const word = "first";');

  await symlink(elsewhere, join(root, "linked"));
  await until(() => registry.get("linked").state === "failed");
  const refusal = registry.get("linked").error?.message ?? "";
  await allow("linked", true);
  await answers("first");
  await work("word.ts", 'export const word = "second";');
  await answers("second");
  await work("package.json", packageJson("linked", { ...PROVIDES, title: "Linked" }));
  await until(() => registry.get("linked").name === "Linked");
  await answers("second");
  await allow("linked", false);
  await until(() => registry.get("linked").state === "failed");

  assert.match(refusal, /linked is a link; set modules\.linked\.links to true/);
});

test("removing the link to a plugin folder removes the module", async (t) => {
  const { registry, root, elsewhere, work, allow, answers } = await startBeside(t, {});
  await work("package.json", packageJson("linked", PROVIDES));
  await work("index.ts", source('const word = "first";'));
  await allow("linked", true);
  await symlink(elsewhere, join(root, "linked"));
  await answers("first");

  await rm(join(root, "linked"));
  await until(() => registry.list().length === 0);

  assert.match(await readFile(join(elsewhere, "index.ts"), "utf8"), /first/);
});

test("a linked package is refused, unless the config allows it", async (t) => {
  const user = {
    "package.json": JSON.stringify({
      ...(JSON.parse(packageJson("user", PROVIDES)) as object),
      dependencies: { wordy: "^1.0.0" },
    }),
    "index.ts": source('const word = "without";'),
    "node_modules/.keep": "",
  };
  const plain = { ...user, "package.json": packageJson("user", PROVIDES) };
  const { registry, root, elsewhere, work, write, allow, answers } = await startBeside(t, {
    user: plain,
  });
  await work("package.json", '{ "name": "wordy", "version": "2.0.0", "main": "index.ts" }');
  await work("index.ts", 'import { part } from "./part.ts"; export const word: string = part;');
  await work("part.ts", 'export const part = "first";');
  await symlink(elsewhere, join(root, "user/node_modules/wordy"));

  await write("user/package.json", user["package.json"]);
  await write("user/index.ts", source('import { word } from "wordy";'));
  await until(() => registry.get("user").lastReload?.result === "rolled_back");
  const refusal = registry.get("user").lastReload?.error;
  await allow("user", true);
  await answers("first");
  await work("part.ts", 'export const part = "second";');
  await answers("second");

  assert.match(
    refusal?.message ?? "",
    /the package wordy is a link; set modules\.user\.links to true/,
  );
  assert.deepEqual([refusal?.file, refusal?.line], ["index.ts", 3]);
});
