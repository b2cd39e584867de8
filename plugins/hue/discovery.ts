import { isIPv4 } from "node:net";
import type { Discover, DiscoveredService } from "@mantel/plugin-sdk";
import { BRIDGE_ID } from "./options.ts";

const SERVICE = "_hue._tcp";
const MOST = 50;

export interface FoundBridge {
  /** In the form of `BRIDGE_ID`. */
  readonly id: string;
  readonly address: string;
}

/** Finds the bridges of the network within the time. */
export type FindBridges = (forMs: number) => Promise<readonly FoundBridge[]>;

/** Finds bridges by multicast DNS, each once. Any device may answer: the certificate is checked later. */
export function bridgesOf(discover: Discover): FindBridges {
  return async (forMs) => {
    const found = (await discover.mdns(SERVICE, { forMs })).flatMap(bridgeIn);
    return [...new Map(found.map((bridge) => [bridge.id, bridge])).values()].slice(0, MOST);
  };
}

/** The bridge that announces itself: its id is in its TXT record. */
function bridgeIn({ txt, addresses }: DiscoveredService): FoundBridge[] {
  const id = (Object.hasOwn(txt, "bridgeid") ? (txt["bridgeid"] ?? "") : "").toLowerCase();
  const address = addresses.find((each) => isIPv4(each));
  return new RegExp(BRIDGE_ID).test(id) && address !== undefined ? [{ id, address }] : [];
}
