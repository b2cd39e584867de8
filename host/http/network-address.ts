import { networkInterfaces } from "node:os";
import { Type } from "typebox";
import type { HttpDependencies } from "./dependencies.ts";
import { isLoopback } from "./network.ts";
import type { Context } from "./route.ts";

const LOOPBACK_NAME = /^(?:localhost|127\.[\d.]+|\[::1\])$/;
/** Networks between programs of this machine, or through a tunnel. A phone at home cannot reach them. */
const NOT_AT_HOME = /^(?:docker|br-|veth|virbr|vmnet|vboxnet|cni|podman|tun|tap|wg|tailscale|zt)/;

/** The address for phones in an answer; see `addressForPhones`. */
export const PhoneAddress = Type.Optional(
  Type.Union([Type.String(), Type.Null()], {
    description:
      "the address by which a phone reaches the host; null if there is none, because the host listens on loopback only; absent if the request came to an address that a phone can use too",
  }),
);

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Where the host listens. */
export interface Listening {
  /** The address by which this machine reaches the host, such as `http://127.0.0.1:8470`. */
  readonly url: string;
  /** The address of the option `--host`. */
  readonly host: string;
}

/**
 * The address by which other devices in the network reach the host, such as `http://192.168.1.20:8470`; `undefined`
 * if it listens on loopback only, or if the machine has no network.
 */
export function networkAddress(
  { url, host }: Listening,
  interfaces: Interfaces = networkInterfaces(),
): string | undefined {
  const { protocol, port } = new URL(url);
  if (host === "0.0.0.0" || host === "::") {
    const own = addressIn(interfaces);
    return own === undefined ? undefined : `${protocol}//${own}:${port}`;
  }
  return isLoopback(host) || host === "localhost" ? undefined : url;
}

function addressIn(interfaces: Interfaces): string | undefined {
  const names = Object.keys(interfaces).toSorted(
    (a, b) => Number(NOT_AT_HOME.test(a)) - Number(NOT_AT_HOME.test(b)),
  );
  return names
    .flatMap((name) => interfaces[name] ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}

/**
 * The address for a phone as an answer shows it: `null` if there is none. Absent if the request did not come to a
 * loopback name: then a phone can open the address that the sender uses.
 */
export function addressForPhones(
  { hostname, state }: Context,
  { address }: Pick<HttpDependencies, "address">,
): { address?: string | null } {
  const isForwarded = state.forwardedHost !== undefined;
  if (isForwarded || !LOOPBACK_NAME.test(hostname)) return {};
  return { address: address() ?? null };
}
