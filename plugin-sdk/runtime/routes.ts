import { readFile } from "node:fs/promises";
import { MantelError } from "../errors.ts";
import type { RouteCall, SentAnswer } from "../protocol.ts";
import { type HandledRoute, type RouteAnswer, type RouteDefinition, routeKey } from "../route.ts";

/** The routes of one generation, as its `start` returned them. */
export class RuntimeRoutes {
  readonly #routes = new Map<string, HandledRoute>();

  /**
   * @param given `routes` of what `start` returned
   * @throws TypeError for a wrong list, and for two routes with one method and path
   */
  constructor(given: unknown = []) {
    if (!Array.isArray(given))
      throw new TypeError('"routes" must be a list of handle(route, handler)');
    for (const each of given as readonly Partial<HandledRoute>[]) {
      const { definition, handler } = each ?? {};
      if (typeof definition?.summary !== "string" || typeof handler !== "function") {
        throw new TypeError('"routes" has an entry that is not a result of handle(route, handler)');
      }
      const key = routeKey(definition);
      if (this.#routes.has(key)) throw new TypeError(`"routes" has ${key} twice`);
      this.#routes.set(key, { definition, handler });
    }
  }

  get definitions(): RouteDefinition[] {
    return [...this.#routes.values()].map(({ definition }) => definition);
  }

  /** Calls the handler. @throws MantelError `not_found` without one, or the handler's error */
  async answer({ route, bytes, bytesFile, ...request }: RouteCall): Promise<SentAnswer> {
    const found = this.#routes.get(route);
    if (!found) throw new MantelError("not_found", `the plugin has no route ${route}`);
    const raw =
      bytesFile === undefined ? Buffer.from(bytes ?? "", "base64") : await readFile(bytesFile);
    const given = { ...request, bytes: raw };
    return toSent(await found.handler(given as never));
  }
}

/** @throws TypeError for an answer that is not an object, or has a content that is neither text nor bytes */
function toSent(answer: unknown): SentAnswer {
  if (typeof answer !== "object" || answer === null) {
    throw new TypeError("a handler of a route must return an object, such as { json: … }");
  }
  const { content, ...rest } = answer as RouteAnswer;
  if (content === undefined) return rest;
  if (typeof content === "string") return { ...rest, text: content };
  if (content instanceof Uint8Array)
    return { ...rest, bytes: Buffer.from(content).toString("base64") };
  throw new TypeError("the content of an answer must be a text or a Uint8Array");
}
