import type { Discover } from "../discovery.ts";
import type { HostLink } from "./host-link.ts";
import { freeze } from "./primordials.ts";

/** Creates `ctx.discover`. */
export function createDiscover(host: HostLink): Discover {
  return freeze({
    mdns: (what, { forMs } = {}) => host.call("discoverMdns", { what, forMs }),
    ssdp: (what, { forMs } = {}) => host.call("discoverSsdp", { what, forMs }),
  } satisfies Discover);
}
