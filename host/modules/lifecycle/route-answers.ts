import { MantelError } from "@mantel/plugin-sdk/errors";
import type { RouteCall, SentAnswer, StartRequest } from "@mantel/plugin-sdk/protocol";
import type { RouteDefinition } from "@mantel/plugin-sdk/route";
import { type ReadyAnswer, readyAnswer } from "../../routes/answer-file.ts";
import { checkAnswer, WrongAnswer } from "../../routes/answer.ts";
import { type RouteInput, sendWithBody } from "../../routes/raw-body.ts";

interface AnswerDependencies {
  readonly call: (input: RouteCall) => Promise<SentAnswer>;
  /** Resolves when calls need not wait; `undefined` if they need not now. @throws MantelError `module_down` */
  readonly ready: () => Promise<void> | undefined;
  /** The request that started the live process. */
  readonly request: () => StartRequest | undefined;
  readonly warn: (sentence: string, error: unknown) => void;
}

/** The answers of a module to requests to its routes. */
export class RouteAnswers {
  readonly #id: string;
  readonly #parts: AnswerDependencies;

  constructor(id: string, parts: AnswerDependencies) {
    this.#id = id;
    this.#parts = parts;
  }

  /** Answers a request to a route. @throws MantelError; its own errors are in the module's log */
  async answer(definition: RouteDefinition, input: RouteInput): Promise<ReadyAnswer> {
    const { call, request } = this.#parts;
    try {
      const sent = await sendWithBody(input, () => this.#storageOfRunning(), call);
      const answer = checkAnswer(definition, sent);
      const { storage, folders = {} } = request() ?? {};
      return await readyAnswer(answer, [...(storage ? [storage] : []), ...Object.values(folders)]);
    } catch (error) {
      throw this.#errorForClient(error, input.route);
    }
  }

  /** @throws MantelError `module_down` */
  async #storageOfRunning(): Promise<string> {
    await this.#parts.ready();
    const request = this.#parts.request();
    if (request) return request.storage;
    throw new MantelError("module_down", `${this.#id} is not running`);
  }

  /** Expected failures reach the client; faults of the code and wrong answers are only in the log. */
  #errorForClient(error: unknown, route: string): unknown {
    if (error instanceof MantelError && !(error instanceof WrongAnswer)) return error;
    if (error instanceof WrongAnswer)
      this.#parts.warn(`a route gave a wrong answer`, `${route}: ${error.message}`);
    const message = `the route ${route} of ${this.#id} failed; see the log of ${this.#id}`;
    return new MantelError("internal", message, { cause: error });
  }
}
