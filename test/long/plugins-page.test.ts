import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { parseSource } from "../../host/packages/source.ts";
import { REPOSITORY } from "../docs/guide-home.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { runScript } from "../helpers/script.ts";

const FENCE = /^```\w*\n(.*?)^```$/gms;
const PLUGIN = "npm run plugin -- ";
const NAME = "mantel-plugin-lamp";
const VERSIONS = ["1.0.0", "1.1.0", "1.2.0"];

/** The commands of the page by block, without comments, and the package that it shows. */
let commands: string[][] = [];
let shown: Readonly<Record<string, unknown>> = {};

before(async () => {
  const page = await readFile(join(REPOSITORY, "docs/plugins.md"), "utf8");
  const blocks = Array.from(page.matchAll(FENCE), ([, text = ""]) => text.trim());
  shown = JSON.parse(blocks.find((text) => text.startsWith("{")) ?? "") as typeof shown;
  commands = blocks
    .filter((text) => !text.startsWith("{"))
    .map((text) => text.split("\n").map((line) => line.replace(/\s+#.*/, "")));
});

interface Published {
  readonly versions: Record<string, { readonly dist: { tarball: string } }>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** A registry as npm publishes to, searches and reads from, with one package. */
async function startRegistry(t: TestContext) {
  const versions: Published["versions"] = {};
  const archives = new Map<string, Buffer>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = "" } = request;
    const path = url.replace(/\?.*/, "");
    if (method === "PUT" && path === `/${NAME}`) {
      const document = (await json(request)) as Published;
      const { _attachments: attachments } = document;
      Object.assign(versions, document.versions);
      for (const [file, { data }] of Object.entries(attachments)) {
        archives.set(`/${NAME}/-/${file}`, Buffer.from(data, "base64"));
      }
      response.writeHead(201).end("{}");
      return;
    }
    const archive = archives.get(path);
    if (archive) return void response.end(archive);
    response.setHeader("content-type", "application/json");
    const latest = Object.keys(versions).at(-1);
    if (latest !== undefined && path === `/${NAME}`) {
      return void response.end(JSON.stringify({ name: NAME, versions, "dist-tags": { latest } }));
    }
    if (path === "/-/v1/search") {
      const facts = { description: "", date: new Date(), maintainers: [], links: {} };
      const found = { name: NAME, version: latest, keywords: shown["keywords"], ...facts };
      return void response.end(JSON.stringify({ objects: [{ package: found }], total: 1 }));
    }
    response.writeHead(404).end('{ "error": "not_found" }');
  };
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close().closeAllConnections());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "npmrc"), `//${host}/:_authToken=anybody\n`);
  const npm = {
    npm_config_registry: `http://${host}/`,
    npm_config_userconfig: join(folder, "npmrc"),
    npm_config_cache: join(folder, "cache"),
  };
  return { url: `http://${host}`, env: { ...process.env, ...npm } };
}

/** The package of the page in a folder `lamp`, with the files that it names. */
async function writeLamp(work: string, version: string): Promise<string> {
  const folder = join(work, "lamp");
  await mkdir(folder, { recursive: true });
  const mantel = { id: "lamp", kinds: ["service"], server: "index.ts" };
  const files = {
    "package.json": JSON.stringify({ ...shown, version, type: "module", mantel }),
    "index.ts": `import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start() {} });`,
    "README.md": "# Lamp",
    "icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "notes.txt": "not published",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** Publishes all versions with the commands of the page. */
async function publishAll(
  work: string,
  { commands: publish, env }: { commands: readonly string[]; env: NodeJS.ProcessEnv },
): Promise<void> {
  for (const version of VERSIONS) {
    const cwd = await writeLamp(work, version);
    for (const command of publish) {
      const [program = "", ...args] = command.split(" ");
      const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env });
      assert.match(stdout, /mantel-plugin-lamp/, command);
      assert.match(stderr, /index\.ts[^]*package\.json/, command);
      assert.doesNotMatch(stderr, /notes\.txt/, command);
    }
  }
}

test("the package of the page is published, found, installed in each way, updated, pinned and removed", async (t) => {
  const { url, env } = await startRegistry(t);
  const work = await emptyFolder(t);
  const [install = [], update = [], scripts = [], publish = []] = commands;
  let data = "";
  const run = async (command: string) => {
    assert.ok(command.startsWith(PLUGIN), command);
    const words = command.slice(PLUGIN.length).split(" ");
    const args = words.map((word) =>
      word.startsWith("https:") ? `${url}/${NAME}/-/${NAME}-1.2.0.tgz` : word,
    );
    const folders = ["--data", data, "--plugins", await emptyFolder(t)];
    return runScript("plugin", [...args, ...folders], { cwd: work, env });
  };

  await publishAll(work, { commands: publish, env });
  for (const command of install) {
    data = await emptyFolder(t);
    await writeFile(join(data, "config.json"), '{ "modules": { "lamp": { "links": true } } }');
    const [, source = ""] = / add (\S+)/.exec(command) ?? [];
    if (source.startsWith("github:")) {
      assert.equal(parseSource(source).kind, "git"); // GitHub cannot be reached in a test
      continue;
    }
    const { code, stdout, stderr } = await run(command);
    assert.equal(code, 0, `${command}\n${stderr}`);
    assert.match(
      stdout,
      source === "" ? /^mantel-plugin-lamp\t1\.2\.0/ : /^lamp 1\.2\.0: installed/,
    );
  }
  data = await emptyFolder(t);
  await run(`${PLUGIN}add ${NAME} --version 1.0.0`);
  const said: string[] = [];
  for (const command of [...update.slice(0, -1), ...scripts, ...update.slice(-1)]) {
    const { code, stdout, stderr } = await run(command);
    assert.equal(code, command.endsWith("outdated") ? 1 : 0, `${command}\n${stderr}`);
    said.push(stdout.split("\n")[0] ?? "");
  }

  assert.deepEqual(said, [
    `lamp\t1.0.0\t${NAME}\tdisabled`,
    "lamp\t1.0.0\t1.2.0",
    "lamp 1.1.0: updated",
    "lamp stays at 1.1.0",
    "lamp 1.1.0: updated",
    "removed lamp with its options, secrets and storage",
  ]);
});
