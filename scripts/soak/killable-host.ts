import { readdir } from "node:fs/promises";
import { type BenchHome, type Served, serveHost, writeLamp } from "../bench/bench-home.ts";

/** A document into which a run writes numbers. */
interface Written {
  readonly name: string;
  readonly change: (number: number) => Promise<Response>;
  readonly read: () => Promise<number>;
  /** The last acknowledged number. */
  acknowledged: number;
  /** The last sent number. Without an answer it may or may not be stored. */
  sent: number;
}

/** A token in the list of tokens, as far as it matters here. */
interface TokenView {
  readonly name: string;
  readonly status: string;
}

/** A host whose layout, config, tokens and scenes are written repeatedly and which may be killed at any moment. */
export class KillableHost {
  readonly #home: BenchHome;
  readonly #documents: readonly Written[];
  #host: Served | undefined;
  #token = "";

  constructor(home: BenchHome) {
    this.#home = home;
    this.#documents = [this.#layout(), this.#config(), this.#scene(), this.#tokens()];
  }

  /** Starts the host. Returns the milliseconds until it is ready. */
  async start(): Promise<number> {
    if (!this.#token) await writeLamp(this.#home, "lamp"); // scenes need a device
    const startedAt = performance.now();
    this.#host = await serveHost(this.#home);
    this.#token ||= await tokenOfItsOwn(this.#host);
    return performance.now() - startedAt;
  }

  async stop(): Promise<void> {
    await this.#host?.stop();
    this.#host = undefined;
  }

  async kill(): Promise<void> {
    if (this.#host) process.kill(this.#host.pid, "SIGKILL");
    await this.stop();
  }

  /** Writes every document once. Returns the statuses of the answers. */
  async writeAll(): Promise<number[]> {
    return Promise.all(this.#documents.map((document) => this.#write(document)));
  }

  /** Writes all documents as fast as possible until the host ends, and calls `onWritten` at each acknowledged write. */
  async writeUntilGone(onWritten: () => void): Promise<void> {
    const goOn = async (document: Written): Promise<void> => {
      for (;;) {
        try {
          if ((await this.#write(document)) === 200) onWritten();
        } catch {
          return; // the host was killed
        }
      }
    };
    await Promise.all(this.#documents.map(goOn));
  }

  /** The names of documents that contain neither the acknowledged number nor a later sent one. */
  async lost(): Promise<string[]> {
    const lost: string[] = [];
    for (const document of this.#documents) {
      const found = await document.read();
      if (found < document.acknowledged || found > document.sent) lost.push(document.name);
      document.acknowledged = found;
      document.sent = Math.max(found, document.sent);
    }
    return lost;
  }

  /** Files that the host found damaged and renamed. */
  async setAside(): Promise<string[]> {
    const names = await readdir(this.#home.data, { recursive: true });
    return names.filter((name) => name.includes(".damaged"));
  }

  async #write(document: Written): Promise<number> {
    const number = ++document.sent;
    const response = await document.change(number);
    await response.arrayBuffer();
    if (response.ok) document.acknowledged = number;
    return response.status;
  }

  #layout(): Written {
    return {
      name: "layout",
      acknowledged: 0,
      sent: 0,
      change: (number) => this.#api("/layout", "PUT", layout(number)),
      read: async () => {
        const { name } = (await (await this.#api("/layout")).json()) as { name: string };
        return Number(name);
      },
    };
  }

  #config(): Written {
    return {
      name: "config",
      acknowledged: 0,
      sent: 0,
      change: (number) => this.#api("/config", "PATCH", { ui: { idleSeconds: number } }),
      read: async () => {
        const { config } = (await (await this.#api("/config")).json()) as {
          config: { ui: { idleSeconds: number } };
        };
        return config.ui.idleSeconds;
      },
    };
  }

  #scene(): Written {
    const path = "/smart-home/scenes/host:scene:written";
    const targets = { "lamp:light:1": { on: true } };
    return {
      name: "scenes",
      acknowledged: 0,
      sent: 0,
      change: (number) => this.#api(path, "PUT", { name: String(number), targets }),
      read: async () => Number(((await (await this.#api(path)).json()) as { name: string }).name),
    };
  }

  /** Each write issues a token and revokes the ones before it. Its number is -1 if a revoked token is valid again. */
  #tokens(): Written {
    const valid = async (): Promise<number[]> => {
      const { tokens } = (await (await this.#api("/tokens")).json()) as { tokens: TokenView[] };
      const written = tokens.filter(({ status }) => status === "valid");
      return written.flatMap(({ name }) =>
        (/^written-(\d+)$/.exec(name) ?? []).slice(1).map(Number),
      );
    };
    let firstValid = 0;
    return {
      name: "tokens",
      acknowledged: 0,
      sent: 0,
      change: async (number) => {
        const token = { name: `written-${number}`, scope: ["read"], ttlSeconds: 3_600 };
        let response = await this.#api("/tokens", "POST", token);
        if (!response.ok) return response;
        for (const each of await valid()) {
          if (each < number) response = await this.#api(`/tokens/written-${each}`, "DELETE");
          if (!response.ok) return response;
        }
        firstValid = number;
        return response;
      },
      read: async () => {
        const found = await valid();
        return found.some((number) => number < firstValid) ? -1 : Math.max(0, ...found);
      },
    };
  }

  async #api(path: string, method = "GET", body?: object): Promise<Response> {
    return fetch(`${this.#host?.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }
}

/** A layout with the number in it, and with varying length. */
function layout(number: number): object {
  const text = "x".repeat((number * 7_919) % 20_000);
  const geometry = { lg: { x: 0, y: 0, w: 4, h: 4 } };
  const widget = { id: "note", module: "note-widget", config: { text }, geometry };
  return {
    version: 1,
    name: String(number),
    grid: { columns: 12, rowHeight: 56, gap: 8 },
    pages: [{ id: "home", title: "Home", widgets: [widget] }],
    displays: [],
  };
}

/** A token that outlives the sign-in link, which the next start ends. */
async function tokenOfItsOwn({ url, token: link }: Served): Promise<string> {
  const response = await fetch(`${url}/api/v1/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${link}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "soak", scope: ["admin"], ttlSeconds: 86_400 }),
  });
  const { token } = (await response.json()) as { token: string };
  return token;
}
