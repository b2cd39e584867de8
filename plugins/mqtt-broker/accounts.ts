import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import {
  isSameText,
  type Static,
  SerialQueue,
  Type,
  verifyPassword,
  topicMatcher,
} from "@mantel/plugin-sdk";

const Strict = { additionalProperties: false } as const;
const Filters = (title: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
      title,
      description: "topic filters such as garden/+/state, or # for all",
      maxItems: 200,
    }),
  );
const rights = { read: Filters("May subscribe to"), write: Filters("May publish to") };

/** The users by name, and the rights of anonymous clients. */
export const accountOptions = {
  users: Type.Record(
    Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
    Type.Object(
      {
        password: Type.String({
          title: "Password",
          minLength: 8,
          maxLength: 200,
          writeOnly: true,
          "x-stored-as": "scrypt",
        }),
        ...rights,
      },
      Strict,
    ),
    { ...Strict, default: {}, maxProperties: 50, title: "Users" },
  ),
  anonymous: Type.Optional(
    Type.Object(rights, {
      ...Strict,
      title: "Clients without a user name",
      description: "refused if absent",
    }),
  ),
};
const AccountOptions = Type.Object(accountOptions);

/** A user who may connect, and the topics of that user. */
export interface Account {
  /** Absent for anonymous clients. */
  readonly name: string | undefined;
  /** True for Mantel's own plugins. */
  readonly isPluginsAccount: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** The user name of plugins; it cannot be used in the config. */
export const PLUGINS_ACCOUNT = "plugins@mantel";
/** Maximum number of password checks running or waiting; each takes about 50 ms of CPU time. */
const MOST_CHECKS = 32;

/**
 * The hash with which the password of an unknown name is compared, so that both checks take equally long. It is written
 * here because making one takes 50 ms of each start; a client that had its password would be refused all the same.
 */
export const DECOY = `$scrypt$ln=14,r=8,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;

/** Reason for refusing a client, as in the CONNACK codes of MQTT 3.1.1 (3.2.2.3). */
export type Refusal = "unavailable" | "wrong" | "anonymous";

/** Authenticates clients by name and password. */
export class Accounts {
  readonly #options: Static<typeof AccountOptions>;
  readonly #pluginsPassword: string;
  readonly #checks = new SerialQueue();
  /**
   * Keyed hashes of passwords that were correct before, so that a reconnecting device needs no
   * scrypt.
   */
  readonly #verifiedPasswords = new Map<string, Buffer>();
  readonly #knownKey = randomBytes(32);
  #waiting = 0;

  constructor(options: Static<typeof AccountOptions>, pluginsPassword: string) {
    this.#options = options;
    this.#pluginsPassword = pluginsPassword;
  }

  /** True if a user with this name, or an anonymous client, may connect at all. */
  has(name: string | undefined): boolean {
    const { users, anonymous } = this.#options;
    if (name === undefined) return anonymous !== undefined;
    return name === PLUGINS_ACCOUNT || Object.hasOwn(users, name);
  }

  async find(name: string | undefined, password: string): Promise<Account | Refusal> {
    if (name === PLUGINS_ACCOUNT) {
      const isRight = isSameText(password, this.#pluginsPassword);
      return isRight
        ? { name, isPluginsAccount: true, read: ["#", "$SYS/#"], write: ["#"] }
        : "wrong";
    }
    if (name !== undefined) return this.#findUser(name, password);
    const { anonymous } = this.#options;
    return anonymous ? { ...rightsOf(anonymous), name, isPluginsAccount: false } : "anonymous";
  }

  async #findUser(name: string, password: string): Promise<Account | Refusal> {
    const { users } = this.#options;
    const user = Object.hasOwn(users, name) ? users[name] : undefined;
    const found = user ? { ...rightsOf(user), name, isPluginsAccount: false } : undefined;
    const mark = createHmac("sha256", this.#knownKey).update(password).digest();
    const known = this.#verifiedPasswords.get(name);
    if (found && known && timingSafeEqual(known, mark)) return found;

    if (this.#waiting >= MOST_CHECKS) return "unavailable";
    this.#waiting += 1;
    const stored = user?.password ?? DECOY;
    const isRight = await this.#checks
      .take(() => verifyPassword(password, stored))
      .finally(() => (this.#waiting -= 1));
    if (!found || !isRight) return "wrong";
    this.#verifiedPasswords.set(name, mark);
    return found;
  }
}

/** True if an account may subscribe to all topics that match a filter. */
export function mayRead({ read }: Account, filter: string): boolean {
  return read.some((allowed) => topicMatcher(allowed)(filter));
}

/** True if an account may publish to a topic. Topics that start with `$` belong to the broker. */
export function mayWrite({ write }: Account, topic: string): boolean {
  if (topic.startsWith("$") || /[+#\0]/.test(topic)) return false;
  return write.some((allowed) => topicMatcher(allowed)(topic));
}

function rightsOf({ read = [], write = [] }: { read?: string[]; write?: string[] }) {
  return { read, write };
}
