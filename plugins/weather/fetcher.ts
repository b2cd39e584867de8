import { type Coordinates, MantelError, type PluginContext } from "@mantel/plugin-sdk";
import type { WeatherForecast } from "./channels.ts";
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
/** The largest answers have some hundred kB. */
const MAX_BYTES = 2 * 2 ** 20;
const NOT_MODIFIED = 304;

/** A forecast and the service's caching headers. */
export interface FetchedForecast {
  readonly forecast: WeatherForecast;
  /** Epoch milliseconds before which the service accepts no further request; 0 if unknown. */
  readonly notBefore: number;
  /** The service's own date of its forecast, for a conditional request. */
  readonly lastModified: string | undefined;
}

/** The stored forecast. It is ignored for another place or service. */
interface StoredForecast extends FetchedForecast {
  readonly of: string;
}

/** Downloads the forecast, and stores it on disk for the next start. */
export class Fetcher {
  readonly #ctx: PluginContext<Options, undefined>;
  readonly #source: Source;
  /** The place of the options, or that of the home. */
  #place: Coordinates | undefined;
  #lastFetched: FetchedForecast | undefined;

  constructor(ctx: PluginContext<Options, undefined>) {
    this.#ctx = ctx;
    this.#source = SOURCES[ctx.config.source];
  }

  /** The stored forecast for this place. */
  async restore(): Promise<FetchedForecast | undefined> {
    const { config, home, storage } = this.#ctx;
    const { latitude, longitude } = config;
    const isOwn = latitude !== undefined && longitude !== undefined;
    this.#place = isOwn ? { latitude, longitude } : await home.coordinates();
    const stored = (await storage.get(KEY)) as StoredForecast | undefined;
    if (stored?.of === this.#key) this.#lastFetched = stored;
    return this.#lastFetched;
  }

  /**
   * @throws Error with a user-facing message if the service does not answer, or answers in another
   * form
   */
  async fetch(): Promise<FetchedForecast> {
    const answer = await this.#ask();
    const notBefore = Date.parse(answer.headers.get("Expires") ?? "") || 0;
    const fetchedAt = new Date().toISOString();
    if (answer.status === NOT_MODIFIED && this.#lastFetched) {
      const { forecast, lastModified } = this.#lastFetched;
      return this.#keep({ forecast: { ...forecast, fetchedAt }, notBefore, lastModified });
    }
    if (!answer.ok) throw refused(this.#source, answer.status);
    const { config, home } = this.#ctx;
    const parsed = this.#source.parse(JSON.parse(await textOf(answer)), home.timeZone);
    const place = config.place ?? this.#place?.name ?? null;
    return this.#keep({
      forecast: { place, source: this.#source.name, fetchedAt, ...parsed },
      notBefore,
      lastModified: answer.headers.get("Last-Modified") ?? undefined,
    });
  }

  get #key(): string {
    const { source, url = "" } = this.#ctx.config;
    const { latitude, longitude } = this.#place ?? {};
    return `${source} ${latitude} ${longitude} ${url}`;
  }

  async #ask(): Promise<Response> {
    const { config, home, signal } = this.#ctx;
    const url = new URL(config.url ?? this.#source.url);
    if (!this.#place) throw new MantelError("invalid", "the town of the home is not known");
    url.search = this.#source.query(this.#place, home.timeZone).toString();
    const since = this.#lastFetched?.lastModified;
    return fetch(url, {
      headers: {
        "User-Agent": ["Mantel/0.1", config.contact].filter(Boolean).join(" "),
        ...(since === undefined ? {} : { "If-Modified-Since": since }),
      },
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    });
  }

  async #keep(known: FetchedForecast): Promise<FetchedForecast> {
    this.#lastFetched = known;
    await this.#ctx.storage.set(KEY, { ...known, of: this.#key } satisfies StoredForecast);
    return known;
  }
}

function refused({ name }: Source, status: number): MantelError {
  const hint = status === 403 ? "; it may want weather.contact to be set" : "";
  return new MantelError("service_unavailable", `${name} answered ${status}${hint}`);
}

/** The body as text. Fails if it is too large for a forecast. */
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
