import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Tokens } from "../../host/auth/tokens.ts";
import { collectedLog } from "../helpers/collected-log.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { openNotifySocket, withoutNotify } from "../helpers/notify-socket.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { until } from "../helpers/until.ts";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const LINK = /Open your home: (http:\S+)\/#token=(\S+)/;

const MISTAKES: Readonly<Record<string, { args: string[]; says: RegExp }>> = {
  "an unknown flag": { args: ["--prot", "1"], says: /unknown option '--prot'[^]*usage:/i },
  "a flag without a value": { args: ["--port"], says: /--port[^]*usage:/ },
  "an empty flag": { args: ["--data", ""], says: /--data is empty[^]*usage:/ },
  "an invalid port": { args: ["--port", "http"], says: /0 to 65535, not http[^]*usage:/ },
};

for (const [mistake, { args, says }] of Object.entries(MISTAKES)) {
  test(`${mistake} is reported with the usage, and no file is created`, async (t) => {
    const data = join(await emptyFolder(t), "data");

    const ended = await launch(t, ["--data", data, ...args]).ended;

    assert.deepEqual([ended.code, ended.stdout], [2, ""]);
    assert.match(ended.stderr, says);
    await assert.rejects(readdir(data), { code: "ENOENT" });
  });
}

test("a port in use, a file as a folder and an invalid variable are each reported", async (t) => {
  const { args, folder } = await emptyHome(t);
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const port = String((taken.address() as AddressInfo).port);
  const file = join(folder, "file");
  await writeFile(file, "");

  const ended = await Promise.all([
    launch(t, [...args, "--port", port]).ended,
    launch(t, [...args, "--data", file]).ended,
    launch(t, [...args, "--data", join(folder, "other"), "--plugins", file]).ended,
    launch(t, [...args, "--data", join(folder, "third")], { MANTEL_LOG_LEVEL: "loud" }).ended,
  ]);

  assert.deepEqual(
    ended.map(({ code, stdout }) => [code, stdout]),
    ended.map(() => [1, ""]),
  );
  const [inUse, data, plugins, variable] = ended.map(({ stderr }) => stderr);
  assert.match(inUse ?? "", new RegExp(`port ${port} on 127.0.0.1 is in use; .+--port\n$`));
  assert.match(data ?? "", /data folder .+file cannot be used: it is a file; .+--data\n$/);
  assert.match(plugins ?? "", /plugin folder .+file cannot be read: .+--plugins\n$/);
  assert.match(variable ?? "", /MANTEL_LOG_LEVEL is invalid: .+"loud"/);
});

test("standard output has only the ready line, and each start prints a sign-in link until somebody has signed in", async (t) => {
  const { args, data } = await emptyHome(t);

  const first = launch(t, args);
  const firstUrl = await first.ready();
  const [, home, unused] = LINK.exec(first.log()) ?? [];
  const config = await fetch(`${home}/api/v1/config`, {
    headers: { authorization: `Bearer ${unused}` },
  });
  const firstEnded = await first.stop();
  const second = launch(t, args);
  const url = await second.ready();
  const [, , token = ""] = LINK.exec(second.log()) ?? [];
  const signIn = (link: string) =>
    fetch(`${url}/api/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify({ token: link }),
    });
  const withTheFirst = await signIn(unused ?? "");
  const signedIn = await signIn(token);
  await second.stop();
  const third = launch(t, args);
  await third.ready();
  const thirdEnded = await third.stop();

  assert.deepEqual([home, config.status, signedIn.status], [firstUrl, 200, 201]);
  assert.equal(withTheFirst.status, 401, "a new link ends the one before");
  assert.deepEqual([firstEnded.code, thirdEnded.code], [0, 0]);
  assert.equal(firstEnded.stdout, `mantel ready ${firstUrl}\n`);
  assert.match(firstEnded.stderr, /Phones and other computers cannot open it: start with --host/);
  assert.doesNotMatch(thirdEnded.stderr, /token=/);
  const [, link, session] = (await openTokens(data)).list();
  const daysOf = (record = link) =>
    (Date.parse(record?.expiresAt ?? "") - Date.parse(record?.issuedAt ?? "")) / 86_400_000;
  assert.deepEqual([daysOf(link), daysOf(session)].map(Math.round), [7, 365]);
});

test("a stop answers pending requests, ends the event streams and exits with 0", async (t) => {
  const { args } = await emptyHome(t);
  const host = launch(t, args);
  const url = await host.ready();
  const authorization = `Bearer ${LINK.exec(host.log())?.[2]}`;
  const stream = await fetch(`${url}/api/v1/events`, { headers: { authorization } });
  const body = '{"ui":{"theme":"dark"}}';
  const patch = request(`${url}/api/v1/config`, {
    method: "PATCH",
    headers: {
      authorization,
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    },
  });
  const answered = once(patch, "response");
  patch.flushHeaders();
  await once(patch, "continue"); // the host has the request, so that it is pending
  patch.write(body.slice(0, 5));

  const ended = host.stop();
  await until(() => host.log().includes("the host stops"));
  patch.end(body.slice(5));
  const [response] = await answered;

  assert.equal(response.statusCode, 200);
  assert.match(await text(response), /"theme":"dark"/);
  await stream.text(); // it ends
  assert.equal((await ended).code, 0);
});

test("a restart on request finishes a restore, at the same address and with the same tokens", async (t) => {
  const { args, data } = await emptyHome(t);
  // Not the sign-in link, which ends with the start that printed it.
  const token = await (
    await openTokens(data)
  ).issue({ name: "test", scope: ["admin"], ttlSeconds: 600 });
  const host = launch(t, args);
  const url = await host.ready();
  const authorization = `Bearer ${token}`;
  const headers = { authorization, "content-type": "application/json" };
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${url}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const theme = async () => {
    const { config } = (await (await ask("GET", "/config")).json()) as {
      config: { ui: { theme: string } };
    };
    return config.ui.theme;
  };
  const before = await theme();
  const packed = await (await ask("POST", "/backup")).arrayBuffer();
  await ask("PATCH", "/config", { ui: { theme: "dark" } });
  const later = await theme();
  await ask("POST", "/restore", { backup: Buffer.from(packed).toString("base64") });

  const restarted = await Promise.all([ask("POST", "/restart"), ask("POST", "/restart")]);
  await until(() => host.readyLines() === 2, { withinMs: 30_000 });

  assert.deepEqual(
    restarted.map(({ status }) => status),
    [202, 202],
  );
  assert.deepEqual([later, await theme()], ["dark", before]);
  const ended = await host.stop();
  assert.equal(ended.code, 0);
  assert.equal(ended.stdout, `mantel ready ${url}\n`.repeat(2));
});

test("the host continues after its standard output is closed", async (t) => {
  const { args } = await emptyHome(t);
  const host = launch(t, args);
  host.child.stdout?.destroy();

  const [, home] = await until(() => LINK.exec(host.log()), { withinMs: 30_000 });
  const health = await until(async () => (await fetch(`${home}/api/v1/health`)).ok);

  assert.ok(health);
  assert.equal((await host.stop()).code, 0);
});

test("a signal during the start ends the host cleanly, without a ready line", async (t) => {
  const { args, data } = await emptyHome(t);
  const host = launch(t, args);
  const isOnItsWay = async () => (await readdir(data)).some((name) => name.endsWith(".lock"));
  await until(isOnItsWay, { withinMs: 30_000 });

  const { code, stdout } = await host.stop();

  assert.deepEqual([code, stdout], [0, ""]);
});

test("a second host on the same data folder is refused, and one after a crash is not", async (t) => {
  const { args, data } = await emptyHome(t);
  const first = launch(t, args);
  await first.ready();

  const refused = await launch(t, args).ended;
  first.child.kill("SIGKILL");
  await first.ended;
  const next = launch(t, args);
  await next.ready();
  const locks = (await readdir(data)).filter((name) => name.endsWith(".lock"));
  await next.stop();

  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    new RegExp(`in use by another Mantel \\(process ${first.child.pid}\\)`),
  );
  assert.equal(locks.length, 1);
});

test(
  "a service manager is notified when the host is ready, healthy and stopping",
  {
    skip: withoutNotify,
  },
  async (t) => {
    const { args } = await emptyHome(t);
    const { path, messages } = await openNotifySocket(t);
    const host = launch(t, args, { NOTIFY_SOCKET: path, WATCHDOG_USEC: "1000000" });
    await host.ready();
    const heard = (what: string) => messages.filter(([first]) => first === what).length;

    await until(() => heard("WATCHDOG=1") > 1);
    host.child.kill("SIGSTOP"); // as silent as a loop that never ends
    const [before] = [heard("WATCHDOG=1"), await delay(1_500)];
    const after = heard("WATCHDOG=1");
    host.child.kill("SIGCONT");
    await host.stop();
    await until(() => heard("STOPPING=1") === 1);

    assert.equal(messages[0]?.[0], "READY=1");
    assert.ok(after - before <= 1, "one may have been on its way");
  },
);

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Launched {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The address in the ready line. */
  readonly ready: () => Promise<string>;
  readonly readyLines: () => number;
  readonly stop: () => Promise<Ended>;
  readonly log: () => string;
}

async function openTokens(dataFolder: string): Promise<Tokens> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  return Tokens.open({ dataFolder, log: collectedLog() });
}

/** A home without plugins, which starts quickly. */
async function emptyHome(t: TestContext) {
  const folder = await emptyFolder(t);
  const [data, plugins] = [join(folder, "data"), join(folder, "plugins")];
  await mkdir(plugins);
  return { folder, data, args: ["--port", "0", "--data", data, "--plugins", plugins] };
}

/** The host with these arguments, as a person starts it. It is ended when the test is over. */
function launch(t: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}): Launched {
  const child = spawn("sh", ["host/start.sh", ...args], {
    cwd: REPOSITORY,
    env: { ...process.env, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (stdout += piece));
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (stderr += piece));
  const ended = once(child, "close").then(([code]) => ({
    code: code as number | null,
    stdout,
    stderr,
  }));
  onTestEnd(t, async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    child,
    ended,
    log: () => stderr,
    ready: () => until(() => /^mantel ready (\S+)\n/.exec(stdout)?.[1], { withinMs: 30_000 }),
    readyLines: () => stdout.match(/^mantel ready /gm)?.length ?? 0,
    stop: () => (child.kill("SIGTERM"), ended),
  };
}
