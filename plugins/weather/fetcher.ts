import { MantelError, type PluginContext, type WeatherForecast } from "@mantel/plugin-sdk";
import { MET_NORWAY } from "./met-norway.ts";
import { OPEN_METEO } from "./open-meteo.ts";
import type { Options } from "./options.ts";
import type { Source } from "./source.ts";

const SOURCES: Readonly<Record<Options["source"], Source>> = {
  "open-meteo": OPEN_METEO,
  "met-norway": MET_NORWAY,
};
const KEY = "forecast";
const DEADLINE_MS = 20_000;
/** The largest answers are some hundred kB. */
const MAX_BYTES = 2 * 2 ** 20;
const NOT_MODIFIED = 304;

/** A forecast with what the service said of it. */
export interface Known {
  readonly forecast: WeatherForecast;
  /** Epoch milliseconds before which the service wants no further request; 0 when it does not say. */
  readonly notBefore: number;
  /** The service's own date of its forecast, for asking whether there is a newer one. */
  readonly lastModified: string | undefined;
}

/** What is stored: a forecast for another place, or of another service, is of no use. */
interface Kept extends Known {
  readonly of: string;
}

/** Reads the forecast, and keeps it on the disk for the next start. */
export class Fetcher {
  readonly #ctx: PluginContext<Options, undefined>;
  readonly #source: Source;
  #known: Known | undefined;

  constructor(ctx: PluginContext<Options, undefined>) {
    this.#ctx = ctx;
    this.#source = SOURCES[ctx.config.source];
  }

  /** The last forecast for this place. */
  async restore(): Promise<Known | undefined> {
    const kept = (await this.#ctx.storage.get(KEY)) as Kept | undefined;
    if (kept?.of === this.#place) this.#known = kept;
    return this.#known;
  }

  /** @throws Error with a sentence for people when the service does not answer, or not in its form */
  async fetch(): Promise<Known> {
    const answer = await this.#ask();
    const notBefore = Date.parse(answer.headers.get("Expires") ?? "") || 0;
    const fetchedAt = new Date().toISOString();
    if (answer.status === NOT_MODIFIED && this.#known) {
      const { forecast, lastModified } = this.#known;
      return this.#keep({ forecast: { ...forecast, fetchedAt }, notBefore, lastModified });
    }
    if (!answer.ok) throw refused(this.#source, answer.status);
    const { config, house } = this.#ctx;
    const parsed = this.#source.parse(JSON.parse(await textOf(answer)), house.timeZone);
    const place = config.place ?? null;
    return this.#keep({
      forecast: { place, source: this.#source.name, fetchedAt, ...parsed },
      notBefore,
      lastModified: answer.headers.get("Last-Modified") ?? undefined,
    });
  }

  get #place(): string {
    const { source, latitude, longitude, url = "" } = this.#ctx.config;
    return `${source} ${latitude} ${longitude} ${url}`;
  }

  async #ask(): Promise<Response> {
    const { config, house, signal } = this.#ctx;
    const url = new URL(config.url ?? this.#source.url);
    url.search = this.#source.query(config, house.timeZone).toString();
    const since = this.#known?.lastModified;
    return fetch(url, {
      headers: {
        "User-Agent": ["Mantel/0.1", config.contact].filter(Boolean).join(" "),
        ...(since === undefined ? {} : { "If-Modified-Since": since }),
      },
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    });
  }

  async #keep(known: Known): Promise<Known> {
    this.#known = known;
    await this.#ctx.storage.set(KEY, { ...known, of: this.#place } satisfies Kept);
    return known;
  }
}

function refused({ name }: Source, status: number): MantelError {
  const hint = status === 403 ? "; it may want weather.contact to be set" : "";
  return new MantelError("service_unavailable", `${name} answered ${status}${hint}`);
}

/** The body as text, cut off when it is no forecast by its size. */
async function textOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
