import { isAbsolute } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import semver from "semver";

/** The place a plugin is installed from. */
export type PackageSource =
  /** A package of npm's configured registry. `range` is a version, a range or a tag; absent means `latest`. */
  | { readonly kind: "npm"; readonly name: string; readonly range?: string }
  /** The address of a `.tgz` file. */
  | { readonly kind: "tarball"; readonly address: string }
  | { readonly kind: "git"; readonly address: string }
  /** A folder or a `.tgz` file on this machine, which is copied. */
  | { readonly kind: "folder"; readonly path: string }
  /** A folder on this machine that is used where it is, for development. */
  | { readonly kind: "link"; readonly path: string };

/** The longest source, in characters. */
export const MAX_SOURCE = 500;

const NAME = /^(@[a-z0-9][a-z0-9._~-]*\/)?[a-z0-9][a-z0-9._~-]*$/;
/** A range or tag, without what npm would take for another kind of source. */
const RANGE = /^[\w.^~<>=|*+ -]{1,100}$/;
const GIT =
  /^(git(\+(https?|ssh|file))?:\/\/|(github|gitlab|bitbucket):[\w.-]+\/|https?:.*\.git(#|$))/;
const FORMS =
  "use a package name (mantel-lamp, mantel-lamp@1.2.0), the address of a .tgz file, a git address (github:owner/name, git+https://…), or an absolute path";

/**
 * Parses a source as users write it: `name`, `name@range`, `https://….tgz`, `github:owner/name`, `git+ssh://…`,
 * `/a/folder`, `link:/a/folder`.
 * @throws MantelError `invalid`, with the forms it may have
 */
export function parseSource(text: string): PackageSource {
  if (text.length > MAX_SOURCE || /\p{Cc}/u.test(text)) throw refused("the source");
  const path = /^(?:file:|link:)?(\/.*)$/.exec(text)?.[1];
  if (path !== undefined && isAbsolute(path)) {
    return { kind: text.startsWith("link:") ? "link" : "folder", path };
  }
  if (GIT.test(text)) return { kind: "git", address: withoutPassword(text) };
  if (/^https?:\/\//.test(text)) return { kind: "tarball", address: withoutPassword(text) };
  return parseNpm(text);
}

/** Parses `name` or `name@range`. */
function parseNpm(text: string): PackageSource {
  const at = text.indexOf("@", 1);
  const [name, range] = at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
  if (!NAME.test(name) || name.length > 214) throw refused(`the source "${text.slice(0, 100)}"`);
  if (range === undefined) return { kind: "npm", name };
  if (!RANGE.test(range) || range.startsWith("-")) {
    throw refused(`the version "${range.slice(0, 100)}" of ${name}`);
  }
  return { kind: "npm", name, range };
}

/** The source as a user writes it. */
export function formatSource(source: PackageSource): string {
  if (source.kind === "npm") {
    return source.range === undefined ? source.name : `${source.name}@${source.range}`;
  }
  if (source.kind === "link") return `link:${source.path}`;
  return source.kind === "folder" ? source.path : source.address;
}

/** The source with another version. @throws MantelError `invalid` for a source without versions */
export function withVersion(source: PackageSource, version: string): PackageSource {
  if (source.kind !== "npm") {
    throw new MantelError(
      "invalid",
      `${formatSource(source)} has no versions to choose from; leave "version" out`,
    );
  }
  return parseSource(`${source.name}@${version}`);
}

/** True for a source that names exactly one version. */
export function isExact(source: PackageSource): boolean {
  return source.kind === "npm" && semver.valid(source.range) !== null;
}

/** An address would be stored and shown with its password. */
function withoutPassword(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && url.password !== "") {
    throw new MantelError(
      "invalid",
      `the address of ${url.host} contains a password; put it into .npmrc or git's credential store instead`,
    );
  }
  return address;
}

function refused(what: string): MantelError {
  return new MantelError("invalid", `${what} is not something to install from; ${FORMS}`);
}
