import { execFile, spawn } from "node:child_process";
import { access, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { removeFolder } from "../helpers/folder.ts";

const VERSION = "2.14.1";
/** It supports Node 22, 24 and 26.2, while this project also runs on Node 20. */
const NODE = `node-${process.platform}-${process.arch}@24`;
const RADIO = join(import.meta.dirname, "../fixtures/zigbee2mqtt/radio.cjs");
const INSTALLED_WITHIN_MS = 100_000;
export const BASE = "zigbee2mqtt";

const LIGHT = [0, 3, 4, 5, 6, 8, 768];
const SWITCH = [0, 3, 4, 5, 6];
/** Names, models and makers as devices report them, clusters, and endpoints. */
const DEVICES: readonly (readonly [string, string, string, readonly number[], ...number[]])[] = [
  ["lamp", "LCA001", "Signify Netherlands B.V.", LIGHT, 11],
  ["blind", "FYRTUR block-out roller blind", "IKEA of Sweden", [0, 1, 3, 258], 1],
  ["weather", "lumi.weather", "LUMI", [0, 3, 1_026, 1_027, 1_029], 1],
  ["fan", "HDC52EastwindFan", "HAMPTON BAY", [...SWITCH, 8, 514], 1],
  ["gangs", "TS0002", "_TZ3000_18ejxno0", SWITCH, 1, 2],
  ["lock", "YRD226/246 TSDB", "Yale", [0, 1, 3, 257], 1],
  ["plug", "TRADFRI control outlet", "IKEA of Sweden", SWITCH, 1],
  ["far", "TRADFRI control outlet", "IKEA of Sweden", SWITCH, 1],
  ["asleep", "TRADFRI control outlet", "IKEA of Sweden", SWITCH, 1],
];
/** The members of the group `lounge`, with their endpoints. */
const MEMBERS = [
  ["lamp", 11],
  ["plug", 1],
] as const;
const GROUP = 1;

const run = promisify(execFile);

/**
 * Installs Zigbee2MQTT, and a Node that runs it, into the user's cache unless it is there, and returns the folder. It is
 * outside the repository, because in a folder with a git repository Zigbee2MQTT would build itself again.
 * @throws Error with a one-line reason if the registry cannot be reached, or has no Node for this machine
 */
export async function installZigbee2Mqtt(): Promise<string> {
  const caches = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(caches, "mantel-tests", `zigbee2mqtt-${VERSION}`);
  if (await exists(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  const flags = [
    "--prefix",
    unfinished,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--fetch-retries=0",
  ];
  const options = { cwd: unfinished, timeout: INSTALLED_WITHIN_MS };
  try {
    await run("npm", ["install", ...flags, `zigbee2mqtt@${VERSION}`, NODE], options);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    const what = `npm cannot install zigbee2mqtt@${VERSION} and ${NODE}`;
    throw new Error(`${what}: ${reasonOf(error)}`, { cause: error });
  }
  return folder;
}

function reasonOf(error: unknown): string {
  const { killed, stderr, message } = error as { killed?: boolean; stderr?: string } & Error;
  if (killed) return `not within ${INSTALLED_WITHIN_MS / 1_000} s`;
  const lines = (stderr ?? "").split("\n").filter((line) => line.startsWith("npm error"));
  return lines.slice(0, 2).join("; ") || (message.split("\n")[0] ?? "");
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Starts a real Zigbee2MQTT at a broker, below the base topic `zigbee2mqtt`; it ends with the test, or what stands for
 * one. Instead of a radio it has `radio.cjs`, which takes all commands. `far` is unavailable, and `asleep` never answers.
 */
export async function startZigbee2Mqtt(
  t: Pick<TestContext, "after">,
  folder: string,
  port: number,
): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), "mantel-zigbee2mqtt-"));
  await writeFile(join(data, "database.db"), databaseText());
  await writeFile(join(data, "configuration.yaml"), configurationText(port));
  const main = join(folder, "node_modules/zigbee2mqtt/index.js");
  const node = join(folder, "node_modules", NODE.replace(/@.*/, ""), "bin/node");
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...environment } = process.env;
  const env = { ...environment, ZIGBEE2MQTT_MAIN: main, ZIGBEE2MQTT_DATA: data };
  const options = { cwd: folder, env, stdio: "ignore" } as const;
  const child = spawn(node, ["--require", RADIO, main], options);
  const ended = new Promise((resolve) => child.once("error", resolve).once("exit", resolve));
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
    await removeFolder(data);
  });
}

function databaseText(): string {
  const about = { ieeeAddr: "0x00124b0000000001", nwkAddr: 0 };
  const coordinator = rowOf(1, { type: "Coordinator", ...about }, [1], []);
  const rows = DEVICES.map(([name, modelId, manufName, clusters, ...endpoints], at) => {
    const of = { type: "Router", ieeeAddr: addressOf(at), nwkAddr: 1_000 + at, modelId };
    const lastSeen = name === "far" ? 0 : Date.now();
    const more = { manufName, powerSource: "Mains (single phase)", lastSeen };
    return rowOf(at + 2, { ...of, ...more }, endpoints, clusters);
  });
  const members = MEMBERS.map(([name, endpointID]) => ({
    deviceIeeeAddr: addressOf(DEVICES.findIndex(([device]) => device === name)),
    endpointID,
  }));
  const group = { id: rows.length + 2, type: "Group", groupID: GROUP, members, meta: {} };
  return [coordinator, ...rows, group].map((row) => JSON.stringify(row)).join("\n");
}

/** `far` has the address that ends in 9, `asleep` the one that ends in a, which `radio.cjs` knows. */
function addressOf(at: number): string {
  return `0x00158d${(at + 2).toString(16).padStart(10, "0")}`;
}

function rowOf(
  id: number,
  about: object,
  endpoints: readonly number[],
  inClusterList: readonly number[],
): object {
  const lists = { outClusterList: [], clusters: {}, binds: [], configuredReportings: [], meta: {} };
  const described = endpoints.map((epId) => [
    epId,
    { profId: 260, epId, devId: 256, inClusterList, ...lists },
  ]);
  return {
    id,
    manufId: 4_476,
    ...about,
    epList: endpoints,
    endpoints: Object.fromEntries(described) as object,
    interviewCompleted: true,
    interviewState: "SUCCESSFUL",
    meta: {},
  };
}

function configurationText(port: number): string {
  const names = DEVICES.map(([friendly_name], at) => [addressOf(at), { friendly_name }]);
  return JSON.stringify({
    version: 5,
    mqtt: { base_topic: BASE, server: `mqtt://127.0.0.1:${port}` },
    serial: { port: "/dev/null", adapter: "zstack" },
    frontend: { enabled: false },
    homeassistant: { enabled: false },
    availability: { enabled: true },
    advanced: {
      log_output: ["console"],
      network_key: Array.from({ length: 16 }, (_, at) => at),
      pan_id: 6_754,
      ext_pan_id: Array<number>(8).fill(221),
      channel: 11,
    },
    devices: Object.fromEntries(names) as object,
    groups: { [GROUP]: { friendly_name: "lounge" } },
  });
}
