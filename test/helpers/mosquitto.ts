import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { connectAsync, type IClientOptions } from "mqtt";
import { removeFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const run = promisify(execFile);
const PROGRAM = "/usr/sbin/mosquitto";

/** For `test(name, { skip: withoutMosquitto }, …)`: false, or why tests with a real broker are skipped. */
export const withoutMosquitto = existsSync(PROGRAM) ? false : `${PROGRAM} is not installed`;

export interface MosquittoOptions {
  /** Passwords by user name; absent means that anyone may connect. */
  readonly users?: Readonly<Record<string, string>>;
  /** Lines of its ACL file, such as `topic readwrite home/#`. */
  readonly acl?: readonly string[];
  /** Serves TLS, with a certificate for 127.0.0.1 and localhost from an authority of its own. */
  readonly tls?: boolean;
  /** More lines for its configuration file. */
  readonly lines?: readonly string[];
}

/** A real broker on loopback. It keeps its port when it is stopped and started again. */
export interface Mosquitto {
  /** `mqtt://127.0.0.1:…`, or `mqtts://…` with TLS. */
  readonly url: string;
  readonly port: number;
  /** The file with the certificate of the authority that signed the broker's own. */
  readonly caFile: string;
  start(): Promise<void>;
  /** Ends it at once, as a power cut would. */
  stop(): Promise<void>;
  /** Freezes it: connections stay open and nothing is answered. */
  freeze(): void;
  thaw(): void;
}

/** Starts a mosquitto on a free port; it ends, and its files go, with the test, or what stands for one. */
export async function startMosquitto(
  t: Pick<TestContext, "after">,
  options: MosquittoOptions = {},
): Promise<Mosquitto> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-mosquitto-"));
  const port = await freePort();
  const config = await writeFiles(folder, port, options);
  let child: ChildProcess | undefined;

  const mosquitto: Mosquitto = {
    url: `${options.tls ? "mqtts" : "mqtt"}://127.0.0.1:${port}`,
    port,
    caFile: join(folder, "ca.crt"),
    async start() {
      child = spawn(PROGRAM, ["-c", config], { stdio: "ignore" });
      await accepting(port, child);
    },
    async stop() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await exited;
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
  };
  t.after(async () => {
    await mosquitto.stop();
    await removeFolder(folder);
  });
  await mosquitto.start();
  return mosquitto;
}

/** A message as a subscriber sees it. */
export interface Received {
  readonly topic: string;
  readonly payload: string;
  readonly qos: number;
  readonly retain: boolean;
}

/** Subscribes with a client of its own, which ends with the test; the array grows as messages come. */
export async function collect(
  t: TestContext,
  url: string,
  options: IClientOptions & { filter?: string } = {},
): Promise<Received[]> {
  const { filter = "#", ...connection } = options;
  const messages: Received[] = [];
  const client = await connectAsync(url, { reconnectPeriod: 0, ...connection });
  t.after(() => client.endAsync(true));
  client.on("message", (topic, payload, { qos, retain }) => {
    messages.push({ topic, payload: payload.toString(), qos, retain });
  });
  await client.subscribeAsync(filter, { qos: 2 });
  return messages;
}

async function writeFiles(
  folder: string,
  port: number,
  { users, acl, tls, lines = [] }: MosquittoOptions,
): Promise<string> {
  const settings = [
    `listener ${port} 127.0.0.1`,
    `allow_anonymous ${users ? "false" : "true"}`,
    "set_tcp_nodelay true", // otherwise many answers wait 40 ms
  ];
  // As root it would become another user, who may not read the files of the test.
  if (process.getuid?.() === 0) settings.push("user root");
  if (users) {
    const file = join(folder, "passwords");
    const text = Object.entries(users).map(([name, password]) => `${name}:${password}\n`);
    await writeFile(file, text.join(""), { mode: 0o600 });
    await run("mosquitto_passwd", ["-U", file]);
    settings.push(`password_file ${file}`);
  }
  if (acl) {
    await writeFile(join(folder, "acl"), `${acl.join("\n")}\n`, { mode: 0o600 });
    settings.push(`acl_file ${join(folder, "acl")}`);
  }
  if (tls) {
    await makeCertificates(folder);
    settings.push(
      `certfile ${join(folder, "broker.crt")}`,
      `keyfile ${join(folder, "broker.key")}`,
    );
  }
  const config = join(folder, "mosquitto.conf");
  await writeFile(config, `${[...settings, ...lines].join("\n")}\n`);
  return config;
}

async function makeCertificates(cwd: string): Promise<void> {
  const openssl = (line: string) => run("openssl", line.split(" "), { cwd });
  await openssl(
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-authority -keyout ca.key -out ca.crt",
  );
  await openssl(
    "req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout broker.key -out broker.csr",
  );
  await writeFile(join(cwd, "names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
  await openssl(
    "x509 -req -in broker.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out broker.crt",
  );
}

async function accepting(port: number, child: ChildProcess): Promise<void> {
  await until(() => child.exitCode !== null || accepts(port));
  if (child.exitCode !== null) throw new Error(`mosquitto ended with code ${child.exitCode}`);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } finally {
    socket.destroy();
  }
}
