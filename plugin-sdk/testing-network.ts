import type {
  DiscoveredDevice,
  DiscoveredService,
  DiscoveryHostApi,
  DiscoveryRequest,
} from "./discovery.ts";

/** The home's network behind `ctx.discover`. */
export interface FakeNetwork {
  /** The answers by service, such as `_lamps._tcp`. */
  readonly mdns?: Readonly<Record<string, readonly DiscoveredService[]>>;
  /** The answers by search target. */
  readonly ssdp?: Readonly<Record<string, readonly DiscoveredDevice[]>>;
}

/** The answer to a search; empty if nothing was given for it. */
export function answerSearch<M extends keyof DiscoveryHostApi>(
  { mdns = {}, ssdp = {} }: FakeNetwork,
  method: M,
  { what }: DiscoveryRequest,
): Awaited<ReturnType<DiscoveryHostApi[M]>> {
  const answers = method === "discoverMdns" ? mdns : ssdp;
  return (Object.hasOwn(answers, what) ? answers[what] : []) as never;
}
