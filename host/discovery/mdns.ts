import type { DiscoveredService } from "@mantel/plugin-sdk/discovery";
import packet from "dns-packet";
import { search, type Target } from "./search.ts";

/** RFC 6762, 3. */
const EVERYBODY: readonly Target[] = [
  { address: "224.0.0.251", port: 5353 },
  { address: "ff02::fb", port: 5353 },
];
const MOST_SERVICES = 100;
const MOST_ADDRESSES = 16;
const MOST_PAIRS = 64;
const LONGEST_VALUE = 255;
/** A service name, RFC 6763, 7. */
const SERVICE = /^_[a-z0-9](?:[a-z0-9-]{0,13}[a-z0-9])?\._(?:tcp|udp)$/;

/** True for a name such as `_lamps._tcp`. */
export function isServiceName(name: string): boolean {
  return SERVICE.test(name);
}

export interface Asked {
  readonly what: string;
  readonly forMs: number;
  readonly signal: AbortSignal;
  readonly targets?: readonly Target[];
}

/** Finds the instances of a service by multicast DNS, from ports that only their answers reach (RFC 6762, 6.7). */
export async function findServices({
  what,
  targets = EVERYBODY,
  ...asked
}: Asked): Promise<readonly DiscoveredService[]> {
  const answers = new Answers(`${what}.local`);
  await search({
    ...asked,
    targets,
    questions: () => answers.questions(),
    onAnswer: (message) => answers.take(message),
  });
  return answers.services;
}

interface Instance {
  readonly name: string;
  host?: string;
  port?: number;
  txt?: Record<string, string>;
}

/** The records that answer one question. Names are compared in lower case (RFC 6762, 16). */
class Answers {
  readonly #service: string;
  readonly #instances = new Map<string, Instance>();
  readonly #addresses = new Map<string, Set<string>>();

  constructor(service: string) {
    this.#service = service;
  }

  /** The question for the service, and one for each instance that has not told where it is. */
  questions(): Buffer[] {
    const unknown = [...this.#instances.values()].filter(({ host }) => host === undefined);
    const questions = [
      { type: "PTR", name: this.#service, class: "IN" } as const,
      ...unknown.map(({ name }) => ({ type: "SRV", name, class: "IN" }) as const),
    ];
    return questions.map((question) => packet.encode({ type: "query", questions: [question] }));
  }

  take(message: Buffer): void {
    for (const record of recordsIn(message)) this.#takeRecord(record);
  }

  get services(): readonly DiscoveredService[] {
    return [...this.#instances.values()].flatMap(({ name, host, port, txt = {} }) => {
      if (host === undefined || port === undefined) return [];
      const addresses = [...(this.#addresses.get(host.toLowerCase()) ?? [])];
      return [{ name: name.slice(0, -this.#service.length - 1), host, addresses, port, txt }];
    });
  }

  #takeRecord(record: packet.Answer): void {
    switch (record.type) {
      case "PTR":
        if (record.name.toLowerCase() === this.#service) this.#add(record.data);
        break;
      case "SRV": {
        const instance = this.#instance(record.name);
        if (instance) Object.assign(instance, { host: record.data.target, port: record.data.port });
        break;
      }
      case "TXT": {
        const instance = this.#instance(record.name);
        if (instance) instance.txt = pairsOf(record.data);
        break;
      }
      case "A":
      case "AAAA":
        this.#addAddress(record.name.toLowerCase(), record.data);
        break;
      default:
    }
  }

  /** The known instance of this name; a record of one that no PTR record has named adds it. */
  #instance(name: string): Instance | undefined {
    this.#add(name);
    return this.#instances.get(name.toLowerCase());
  }

  #add(name: string): void {
    const key = name.toLowerCase();
    if (!key.endsWith(`.${this.#service}`) || this.#instances.has(key)) return;
    if (this.#instances.size < MOST_SERVICES) this.#instances.set(key, { name });
  }

  #addAddress(host: string, address: string): void {
    const known = this.#addresses.get(host) ?? new Set();
    if (known.size >= MOST_ADDRESSES || this.#addresses.size >= 2 * MOST_SERVICES) return;
    this.#addresses.set(host, known.add(address));
  }
}

function recordsIn(message: Buffer): readonly packet.Answer[] {
  try {
    const { type, answers = [], additionals = [] } = packet.decode(message);
    return type === "response" ? [...answers, ...additionals] : [];
  } catch {
    return []; // any device can send invalid data
  }
}

/** The pairs of a TXT record (RFC 6763, 6.3): the first of a name counts, and a name without a value is empty. */
function pairsOf(data: packet.TxtData): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const text of [data].flat().map(String).slice(0, MOST_PAIRS)) {
    const [name = "", ...value] = text.split("=");
    const key = name.toLowerCase();
    if (key !== "" && !pairs.has(key)) pairs.set(key, value.join("=").slice(0, LONGEST_VALUE));
  }
  return Object.fromEntries(pairs);
}
