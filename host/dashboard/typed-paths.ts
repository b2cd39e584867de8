import type { paths } from "@mantel/plugin-sdk/client";

/** A method of the API, as its types name it. */
type Method = "get" | "post" | "put" | "patch" | "delete";

/** The first part of a path, and the others. */
type Parts<Path extends string> = Path extends `${infer First}/${infer Rest}`
  ? [First, ...Parts<Rest>]
  : [Path];

type WithoutQuery<Path extends string> = Path extends `${infer Plain}?${string}` ? Plain : Path;

/** True if each given part equals the known one, or stands for a parameter. */
type AreParts<Given, Known> = [Given, Known] extends [
  [infer G, ...infer GivenRest],
  [infer K, ...infer KnownRest],
]
  ? K extends `{${string}}` | G
    ? G extends K | (K extends `{${string}}` ? string : never)
      ? AreParts<GivenRest, KnownRest>
      : false
    : false
  : [Given, Known] extends [[], []]
    ? true
    : false;

/** The paths of the API that a path such as `/modules/lamps/config?a=b` can be. */
type Matching<Path extends string> = {
  [K in keyof paths]: AreParts<Parts<Path>, Parts<K>> extends true ? K : never;
}[keyof paths];

/** The path of the API, such as `/modules/{id}/config`. One that is named wins over one with a parameter. */
type KnownPath<Path extends string> = Path extends Matching<Path> ? Path : Matching<Path>;

type Operation<M extends Method, Path extends string> = [KnownPath<WithoutQuery<Path>>] extends [
  infer Known extends keyof paths,
]
  ? [Known] extends [never]
    ? unknown
    : paths[Known][M]
  : unknown;

/** The answer that clients get unless they ask for an early one. */
type Usual<Answers> = Answers extends { 200: infer Answer }
  ? Answer
  : Answers[Extract<keyof Answers, 201 | 202 | 204>];

type Json<Content> = Content extends { content: { "application/json": infer Body } }
  ? Body
  : undefined;

/**
 * The answer to a successful request, by the types of the API's client; `unknown` for a path that is not known while
 * the dashboard is compiled.
 */
export type AnswerTo<M extends Method, Path extends string> =
  Operation<M, Path> extends { responses: infer Answers } ? Json<Usual<Answers>> : unknown;
