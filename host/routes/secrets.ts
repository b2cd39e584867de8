import { randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { Strict } from "@mantel/plugin-sdk/schema";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { type Static, Type } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

const NAME = "route-secrets.json";
const SECRET_BYTES = 24;

const RouteSecretsFile = Type.Object(
  {
    version: Type.Literal(1),
    /** Secrets by plugin id. */
    secrets: Type.Record(
      Type.String({ pattern: PLUGIN_ID }),
      Type.String({ pattern: "^[\\w-]{32}$" }),
      Strict,
    ),
  },
  Strict,
);
type RouteSecretsFile = Static<typeof RouteSecretsFile>;

/**
 * The secret part of the addresses of plugins' routes that need no token, one for each plugin, in
 * `<data>/route-secrets.json`. It is made when the plugin first asks for an address.
 */
export class RouteSecrets {
  readonly #file: DocumentFile<RouteSecretsFile>;
  readonly #queue = new SerialQueue();
  readonly #secrets: Map<string, string>;

  static async open(dataFolder: string, log: HostLog): Promise<RouteSecrets> {
    const parse = (value: unknown) => check(RouteSecretsFile, value, NAME);
    const file = new DocumentFile({ path: join(dataFolder, NAME), parse, log, version: 1 });
    return new RouteSecrets(file, new Map(Object.entries((await file.load())?.secrets ?? {})));
  }

  private constructor(file: DocumentFile<RouteSecretsFile>, secrets: Map<string, string>) {
    this.#file = file;
    this.#secrets = secrets;
  }

  /** Resolves with the secret of a plugin, once it is stored. @throws MantelError `disk_full` */
  secretOf(id: string): Promise<string> {
    return this.#queue.take(async () => {
      const known = this.#secrets.get(id);
      if (known !== undefined) return known;
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      const secrets = { ...Object.fromEntries(this.#secrets), [id]: secret };
      await this.#file.write({ version: 1, secrets });
      this.#secrets.set(id, secret);
      return secret;
    });
  }

  /** True for the secret of this plugin. Takes the same time for any other text of its length. */
  admits(id: string, given: string): boolean {
    const [secret, text] = [Buffer.from(this.#secrets.get(id) ?? ""), Buffer.from(given)];
    return secret.length > 0 && secret.length === text.length && timingSafeEqual(secret, text);
  }
}
