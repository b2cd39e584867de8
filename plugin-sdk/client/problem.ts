import type { Problem } from "./api-types.d.ts";

/** A refused call, with the host's code and its user-facing sentence. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly status: number;
  /** Absent if the answer is not from the host, but from a proxy, for example. */
  readonly code: Problem["code"] | undefined;
  /** Milliseconds to wait before a retry. */
  readonly retryAfterMs: number | undefined;
  /** The host's answer; absent as `code` is. */
  readonly problem: Problem | undefined;

  constructor(status: number, answer: unknown) {
    const problem = isProblem(answer) ? answer : undefined;
    super(problem?.detail ?? `the answer has the status ${status}`);
    this.status = status;
    this.problem = problem;
    this.code = problem?.code;
    this.retryAfterMs = problem?.retryAfterMs;
  }
}

/**
 * The data of an answer.
 * @throws ProblemError if the host refused the call
 */
export async function unwrap<T>(
  answer: Promise<{ readonly data?: T; readonly error?: unknown; readonly response: Response }>,
): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ProblemError(response.status, error);
  return data as T;
}

function isProblem(answer: unknown): answer is Problem {
  return typeof answer === "object" && answer !== null && "code" in answer && "detail" in answer;
}
