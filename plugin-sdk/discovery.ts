/** A service that a device announces by multicast DNS (DNS-SD, RFC 6763). All texts come from the network. */
export interface DiscoveredService {
  /** The name of the instance, such as `Lamp Bridge - 1A2B3C`. */
  readonly name: string;
  /** The host that it runs on, such as `bridge.local`. */
  readonly host: string;
  /** IP addresses of the host; empty if it did not tell them. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** The pairs of its TXT record, with keys in lower case. */
  readonly txt: Readonly<Record<string, string>>;
}

/** A device that answers a search by SSDP (UPnP). All texts come from the network. */
export interface DiscoveredDevice {
  /** The address that answered. */
  readonly address: string;
  /** The URL of its description, if it is an HTTP URL; otherwise empty. */
  readonly location: string;
  /** Its unique service name. */
  readonly usn: string;
  /** The search target that it answers to. */
  readonly target: string;
  readonly server: string;
}

export interface DiscoverOptions {
  /** Duration of the search in ms: 100 to 10,000; absent means 3,000. */
  readonly forMs?: number;
}

/**
 * Finds devices in the home's network. The host asks and collects the answers, at most 100; the manifest needs
 * `network:local` in `permissions.hosts`. Any device may answer anything: check what you connect to.
 */
export interface Discover {
  /**
   * Finds services such as `_lamps._tcp`, by multicast DNS.
   * @throws MantelError `invalid` for another form of name, and without the permission; `module_busy` if this plugin
   * already runs four searches
   */
  mdns(service: string, options?: DiscoverOptions): Promise<readonly DiscoveredService[]>;
  /** Finds UPnP devices by a search target such as `ssdp:all` or `urn:schemas-upnp-org:device:MediaRenderer:1`. */
  ssdp(target: string, options?: DiscoverOptions): Promise<readonly DiscoveredDevice[]>;
}

/** The calls of `ctx.discover` to the host. */
export interface DiscoveryHostApi {
  discoverMdns(request: DiscoveryRequest): Promise<readonly DiscoveredService[]>;
  discoverSsdp(request: DiscoveryRequest): Promise<readonly DiscoveredDevice[]>;
}

export interface DiscoveryRequest {
  /** The service or the search target. */
  readonly what: string;
  readonly forMs?: number | undefined;
}
