import assert from "node:assert/strict";
import { ChildProcess } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { install, readSignatures, verifySignatures } from "../../../host/modules/build/npm.ts";
import { fakeNpm } from "../../helpers/fake-npm.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

const never = (): never => assert.fail("nothing was fetched");

test("packages are installed in the folder without install scripts, audit or development packages", async (t) => {
  const npm = await fakeNpm(t, { install: "pwd -P > where" });
  const folder = await emptyFolder(t);

  assert.equal(await install(folder, never), undefined);

  assert.equal(await readFile(join(folder, "where"), "utf8"), `${folder}\n`);
  const [call = ""] = await npm.calls();
  const options = call.split(" ");
  for (const option of ["--ignore-scripts", "--no-audit", "--omit=dev", "--install-links"]) {
    assert.ok(options.includes(option), call);
  }
  assert.equal(options[0], "install");
});

test("each fetched package is counted, on either stream of npm", async (t) => {
  const fetched = "npm http fetch GET 200 http://localhost/wordy-1.0.0.tgz 5ms (cache miss)";
  const other = "npm http fetch GET 200 http://localhost/wordy 5ms";
  const failed = "npm http fetch GET 404 http://localhost/absent-1.0.0.tgz 5ms";
  await fakeNpm(t, {
    install: `echo '${fetched}' >&2; echo '${other}' >&2; echo '${failed}' >&2; echo '${fetched}'`,
  });
  const counts: number[] = [];

  await install(await emptyFolder(t), (count) => counts.push(count));

  assert.deepEqual(counts, [1, 2]);
});

test("a failed installation gives npm's first five lines without warnings and requests", async (t) => {
  const lines = ["npm warn old", "npm http fetch GET 404", "  ", ...["a", "b", "c", "d", "e", "f"]];
  await fakeNpm(t, {
    install: `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")}; exit 3`,
  });

  assert.equal(await install(await emptyFolder(t), never), "a; b; c; d; e");
});

test("a machine without npm fails the installation, and no timer remains", async (t) => {
  const before = process.env["PATH"];
  onTestEnd(t, async () => {
    process.env["PATH"] = before;
  });
  process.env["PATH"] = await emptyFolder(t);

  const timers = () => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;
  const timersBefore = timers();

  assert.equal(await install(process.cwd(), never), "");

  assert.equal(timers(), timersBefore);
});

for (const [what, begin, minutes] of [
  ["installation", (folder: string, begun: () => void) => install(folder, begun), 5],
  ["verification", verifySignatures, 1 / 3],
] as const) {
  test(`a hanging ${what} is ended after ${Math.round(minutes * 60)} s`, async (t) => {
    const begun = "npm http fetch GET 200 http://localhost/wordy-1.0.0.tgz 5ms";
    const hang = `echo '${begun}'; exec sleep 60`;
    await fakeNpm(t, { install: hang, audit: hang });
    const folder = await emptyFolder(t);
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const kill = t.mock.method(ChildProcess.prototype, "kill");

    const result = begin(folder, () => undefined);
    t.mock.timers.tick(minutes * 60_000 - 1);
    assert.equal(kill.mock.callCount(), 0);
    t.mock.timers.tick(1);

    assert.equal(kill.mock.callCount(), 1);
    assert.notDeepEqual(await result, { is: "verified" });
  });
}

test("npm gets its settings and token from the environment, and no other secret", async (t) => {
  await fakeNpm(t, { install: "env > environment" });
  const variables = {
    NPM_TOKEN: "for npm",
    npm_config_registry: "http://localhost",
    KEY: "secret",
  };
  const before = { ...process.env };
  Object.assign(process.env, variables);
  onTestEnd(t, async () => {
    process.env = before;
  });
  const folder = await emptyFolder(t);

  await install(folder, never);

  const environment = await readFile(join(folder, "environment"), "utf8");
  assert.match(environment, /^NPM_TOKEN=for npm$/m);
  assert.match(environment, /^npm_config_registry=http:\/\/localhost$/m);
  assert.doesNotMatch(environment, /secret/);
});

test("signatures are verified in the folder, as JSON and with a short network timeout", async (t) => {
  const npm = await fakeNpm(t, { audit: "cat report; exit 1" });
  const folder = await emptyFolder(t);
  await writeFile(
    join(folder, "report"),
    '{\n  "invalid": [\n    { "name": "wordy", "version": "1.0.0" }\n  ],\n  "missing": []\n}\n',
  );

  assert.deepEqual(await verifySignatures(folder), { is: "invalid", packages: ["wordy@1.0.0"] });

  assert.deepEqual(await npm.calls(), [
    "audit signatures --json --fetch-retries=0 --fetch-timeout=10000",
  ]);
});

test("npm's signature report is parsed correctly", () => {
  const one = '[\n    { "name": "a", "version": "1.0.0" }\n  ]';
  const two = '[\n { "name": "a", "version": "1.0.0" }, { "name": "@b/c", "version": "2.0.0" }\n]';
  const report = (fields: string) => `npm warn old\n{\n  ${fields}\n}\nnpm error log`;

  for (const [output, expected] of [
    [report('"error": { "summary": "it is away" }'), { is: "unknown", reason: "it is away" }],
    [report('"error": {}'), { is: "unknown", reason: "npm gave no reason" }],
    [report(`"invalid": [], "missing": ${one}`), { is: "missing", packages: ["a@1.0.0"] }],
    [report(`"missing": ${two}`), { is: "missing", packages: ["a@1.0.0", "@b/c@2.0.0"] }],
    [
      report(`"invalid": ${two}, "missing": ${one}`),
      { is: "invalid", packages: ["a@1.0.0", "@b/c@2.0.0"] },
    ],
    [report(`"invalid": ${one}, "error": {}`), { is: "invalid", packages: ["a@1.0.0"] }],
    ['{\n  "invalid": [],\n  "missing": []\n}', { is: "verified" }],
    ["", { is: "unknown", reason: "npm did not answer in time" }],
    ["{\n  truncated\n}", { is: "unknown", reason: "npm did not answer in time" }],
  ] as const) {
    assert.deepEqual(readSignatures(output), expected, output);
  }
});
