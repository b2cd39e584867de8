import { isIPv6 } from "node:net";
import type { DiscoveredDevice } from "@mantel/plugin-sdk/discovery";
import type { Asked } from "./mdns.ts";
import { search, type Target } from "./search.ts";

/** UPnP Device Architecture 2.0, 1.2.2 and A.4. */
const EVERYBODY: readonly Target[] = [
  { address: "239.255.255.250", port: 1_900 },
  { address: "ff02::c", port: 1_900 },
];
const MOST_DEVICES = 100;
const LONGEST_TEXT = 1_000;
/** Seconds over which devices spread their answers. */
const SPREAD_SECONDS = 1;

/** True for a search target: printable text without spaces. */
export function isSearchTarget(target: string): boolean {
  return /^[!-~]{1,200}$/.test(target);
}

/** Finds UPnP devices by a search target, each unique service name and location once. */
export async function findDevices({
  what,
  targets = EVERYBODY,
  ...asked
}: Asked): Promise<readonly DiscoveredDevice[]> {
  const found = new Map<string, DiscoveredDevice>();
  await search({
    ...asked,
    targets,
    questions: (target) => [questionTo(target, what)],
    onAnswer(message, address) {
      const device = deviceIn(message.toString("latin1"), address);
      const key = `${device?.usn} ${device?.location}`;
      if (device && (found.has(key) || found.size < MOST_DEVICES)) found.set(key, device);
    },
  });
  return [...found.values()];
}

function questionTo({ address, port }: Target, what: string): Buffer {
  const lines = [
    "M-SEARCH * HTTP/1.1",
    `HOST: ${isIPv6(address) ? `[${address}]` : address}:${port}`,
    'MAN: "ssdp:discover"',
    `MX: ${SPREAD_SECONDS}`,
    `ST: ${what}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}

/** The device in an answer, which is the head of an HTTP response. */
function deviceIn(text: string, address: string): DiscoveredDevice | undefined {
  const [status = "", ...lines] = text.split("\r\n");
  if (!/^HTTP\/1\.[01] 200\b/.test(status)) return undefined;
  const header = (name: string): string => {
    const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`)) ?? "";
    return line
      .slice(name.length + 1)
      .trim()
      .slice(0, LONGEST_TEXT);
  };
  const location = header("location");
  return {
    address,
    location: /^https?:\/\//.test(location) && URL.canParse(location) ? location : "",
    usn: header("usn"),
    target: header("st"),
    server: header("server"),
  };
}
