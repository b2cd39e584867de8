import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { Strict } from "@mantel/plugin-sdk/schema";
import { DelayedCall } from "@mantel/plugin-sdk/timers";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";
import { Declared } from "./declared.ts";
import { type ChannelRegistry, keyOf } from "./registry.ts";

/** Changes that follow within this time are stored together. */
const GATHER_MS = 1_000;
/** Values that change all the time are stored at most this often, to spare memory cards. */
const WRITE_EVERY_MS = 2_000;
/** The most JSON of all kept values. */
const MOST_BYTES = 4 * 2 ** 20;

/** The file `channels.json`: values of channels with `keep`. */
export const ChannelsFile = Type.Object(
  {
    version: Type.Optional(Type.Literal(1)),
    channels: Type.Array(
      Type.Object(
        {
          plugin: Type.String({ pattern: PLUGIN_ID, maxLength: 64 }),
          declared: Declared,
          value: Type.Unknown(),
          revision: Type.Integer({ minimum: 0 }),
          updatedAt: Type.String({ format: "date-time" }),
        },
        Strict,
      ),
    ),
  },
  Strict,
);
type ChannelsFile = Static<typeof ChannelsFile>;

interface KeptDependencies {
  readonly dataFolder: string;
  readonly channels: ChannelRegistry;
  readonly log: HostLog;
}

/**
 * Keeps the values of channels with `keep` over a restart of the host, in `<dataFolder>/channels.json`. A change is stored
 * within two seconds; a value that is published again is not.
 */
export class KeptChannels {
  readonly #channels: ChannelRegistry;
  readonly #log: HostLog;
  readonly #file: DocumentFile<ChannelsFile>;
  readonly #writing = new DelayedCall(() => void (this.#written = this.#write()));
  #written: Promise<void> | undefined;
  /** Monotonic. */
  #lastWriteAt = -Infinity;
  readonly #stop: () => void;
  /** The values as of the last write as JSON, by channel; empty if it failed. */
  #stored: ReadonlyMap<string, string>;
  /** Channels that were left out because they are too large, each logged once. */
  readonly #leftOut = new Set<string>();

  /** Puts the stored values back, and stores changes from then on. */
  static async open(parts: KeptDependencies): Promise<KeptChannels> {
    const { dataFolder, channels, log } = parts;
    const path = join(dataFolder, "channels.json");
    const parse = (value: unknown) => check(ChannelsFile, value, "channels.json");
    const file = new DocumentFile({ path, parse, log, version: 1 });
    const stored = (await file.load())?.channels ?? [];
    for (const { plugin, declared, value, revision, updatedAt } of stored) {
      channels.restore(plugin, declared, {
        json: JSON.stringify(value),
        value,
        revision,
        updatedAt,
      });
    }
    const inFile = stored.map((each) => [keyOf(each), JSON.stringify(each.value)] as const);
    return new KeptChannels(parts, file, new Map(inFile));
  }

  private constructor(
    { channels, log }: KeptDependencies,
    file: DocumentFile<ChannelsFile>,
    stored: ReadonlyMap<string, string>,
  ) {
    this.#channels = channels;
    this.#log = log;
    this.#file = file;
    this.#stored = stored;
    this.#stop = channels.on((channel) => {
      const kept = channel.declared.keep ? channel.current?.json : undefined;
      if (kept === this.#stored.get(keyOf(channel))) return;
      const untilNextMs = this.#lastWriteAt + WRITE_EVERY_MS - performance.now();
      this.#writing.start(Math.max(GATHER_MS, untilNextMs));
    });
  }

  /** Removes the values of all plugins but these. */
  keepOnly(plugins: ReadonlySet<string>): void {
    for (const plugin of this.#channels.plugins()) {
      if (!plugins.has(plugin)) this.#channels.remove(plugin);
    }
  }

  /** Stores what has changed. Call it before the modules are stopped. */
  async close(): Promise<void> {
    this.#stop();
    const isChanged = this.#writing.isWaiting;
    this.#writing.stop();
    await this.#written;
    if (isChanged) await this.#write();
  }

  async #write(): Promise<void> {
    this.#lastWriteAt = performance.now();
    let bytes = 0;
    const stored = new Map<string, string>();
    const kept = this.#channels.list().flatMap((channel) => {
      const { plugin, declared, current } = channel;
      if (!declared.keep || !current) return [];
      stored.set(keyOf(channel), current.json);
      bytes += Buffer.byteLength(current.json);
      if (bytes > MOST_BYTES) {
        bytes -= Buffer.byteLength(current.json);
        this.#tellLeftOut(keyOf(channel));
        return [];
      }
      const { value, revision, updatedAt } = current;
      return [{ plugin, declared: { ...declared }, value, revision, updatedAt }];
    });
    this.#stored = stored;
    try {
      await this.#file.write({ version: 1, channels: kept });
    } catch (error) {
      this.#stored = new Map();
      this.#log.error("could not store the values of channels", { error });
    }
  }

  #tellLeftOut(channel: string): void {
    if (this.#leftOut.has(channel)) return;
    this.#leftOut.add(channel);
    const limit = `${MOST_BYTES / 2 ** 20} MiB of all kept channels`;
    this.#log.warn(`a channel is not kept over a restart, because it is above ${limit}`, {
      channel,
    });
  }
}
