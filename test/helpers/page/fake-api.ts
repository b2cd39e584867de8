import { Api, ApiError, type OpenRequest } from "../../../host/dashboard/api.ts";

/** The answers of a host by request (`GET /config`), by path, or by the beginning of a path that ends with `?`. */
export type Answers = Record<string, unknown>;

/** The API of a host with these answers. An answer that is an error is thrown; a path without one is not found. */
export class FakeApi extends Api {
  /** Each request, such as `POST /smart-home/scenes/…/activate`. */
  readonly asked: string[] = [];
  /** The body of each `post`. */
  readonly posted: unknown[] = [];
  readonly answers: Answers;

  constructor(answers: Answers = {}) {
    super(() => undefined);
    this.answers = answers;
  }

  override async get<T>(path: string): Promise<T> {
    return this.#answer(`GET ${path}`) as T;
  }

  override async post<T>(path: string, body?: unknown): Promise<T> {
    this.posted.push(body);
    return this.#answer(`POST ${path}`) as T;
  }

  override async send<M extends string, P extends string>(
    method: M,
    path: P,
    body?: unknown,
  ): Promise<never> {
    this.posted.push(body);
    return this.#answer(`${method} ${path}`) as never;
  }

  override async change<M extends string, P extends string>(
    method: M,
    path: P,
    { body }: { body?: unknown; revision: number },
  ): Promise<never> {
    this.posted.push(body);
    return this.#answer(`${method} ${path}`) as never;
  }

  override async open(path: string, _request?: OpenRequest): Promise<Response> {
    const answer = this.#answer(`GET ${path}`);
    return answer instanceof Response ? answer : Response.json(answer);
  }

  #answer(request: string): unknown {
    this.asked.push(request);
    const path = request.replace(/^\w+ /, "");
    const { answers } = this;
    const answer = answers[request] ?? answers[path] ?? answers[path.replace(/\?.*/, "?")];
    if (answer instanceof Error) throw answer;
    if (answer === undefined) throw new ApiError(404, { code: "not_found", detail: path });
    return answer instanceof Response ? answer.clone() : structuredClone(answer);
  }
}
