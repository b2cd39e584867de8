import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

const Strict = { additionalProperties: false } as const;

/** The body of a request for a new address. */
export const FeedRequest = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100, description: "who will use it" }) },
  Strict,
);

/** A feed address without its secret, which is not stored. */
export const FeedAddress = Type.Object(
  { id: Type.String(), name: Type.String(), createdAt: Type.String({ format: "date-time" }) },
  Strict,
);
export type FeedAddress = Static<typeof FeedAddress>;

export const FeedFile = Type.Object(
  {
    version: Type.Literal(1),
    feeds: Type.Array(
      Type.Object(
        { ...FeedAddress.properties, secretHash: Type.String({ maxLength: 64 }) },
        Strict,
      ),
    ),
  },
  Strict,
);
type StoredFeed = Static<typeof FeedFile>["feeds"][number];

const MAX_FEEDS = 100;
const SECRET_BYTES = 32;

/**
 * Addresses under which the calendar feed can be read without a token, each with its own secret,
 * for programs that cannot send a header. Only hashes of the secrets are stored, in
 * `<data>/calendar-feeds.json`; a plain hash is sufficient for 256 random bits.
 */
export class FeedAddresses {
  readonly #file: DocumentFile<Static<typeof FeedFile>>;
  readonly #queue = new SerialQueue();
  /** The stored addresses. */
  #feeds: readonly StoredFeed[];

  static async open(dataFolder: string, log: HostLog): Promise<FeedAddresses> {
    const path = join(dataFolder, "calendar-feeds.json");
    const parse = (value: unknown) => check(FeedFile, value, "calendar-feeds.json");
    const file = new DocumentFile({ path, parse, log, version: 1 });
    return new FeedAddresses(file, (await file.load())?.feeds ?? []);
  }

  private constructor(file: DocumentFile<Static<typeof FeedFile>>, feeds: readonly StoredFeed[]) {
    this.#file = file;
    this.#feeds = feeds;
  }

  list(): FeedAddress[] {
    return this.#feeds.map(({ id, name, createdAt }) => ({ id, name, createdAt }));
  }

  /** Creates an address; its secret is returned only this once. @throws MantelError `invalid`, `disk_full` */
  async create(body: unknown): Promise<{ feed: FeedAddress; secret: string }> {
    const { name } = check(FeedRequest, body, "the feed");
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    const feed = { id: randomUUID(), name, createdAt: new Date().toISOString() };
    await this.#change((feeds) => {
      if (feeds.length < MAX_FEEDS) return [...feeds, { ...feed, secretHash: hashOf(secret) }];
      throw new MantelError("invalid", `there are already ${MAX_FEEDS} feeds; revoke one first`);
    });
    return { feed, secret };
  }

  /** Revokes an address; it is invalid as soon as this resolves. @throws MantelError `not_found`, `disk_full` */
  revoke(id: string): Promise<void> {
    return this.#change((feeds) => {
      const remaining = feeds.filter((each) => each.id !== id);
      if (remaining.length < feeds.length) return remaining;
      throw new MantelError("not_found", `no feed has the id ${id}`);
    });
  }

  /** True for a valid secret. Takes the same time for any other. */
  admits(secret: string): boolean {
    const hash = Buffer.from(hashOf(secret));
    let found = false;
    for (const { secretHash } of this.#feeds) {
      const stored = Buffer.from(secretHash);
      if (stored.length === hash.length && timingSafeEqual(stored, hash)) found = true;
    }
    return found;
  }

  #change(edit: (feeds: readonly StoredFeed[]) => readonly StoredFeed[]): Promise<void> {
    return this.#queue.take(async () => {
      const next = edit(this.#feeds);
      await this.#file.write({ version: 1, feeds: [...next] });
      this.#feeds = next;
    });
  }
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
