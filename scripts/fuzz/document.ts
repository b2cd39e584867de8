import { Compile } from "typebox/compile";

/** A JSON Schema of the document, with resolved references. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

interface Media {
  readonly schema?: Schema;
}
interface DocumentedAnswer {
  readonly content?: Readonly<Record<string, Media>>;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
}
interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: Schema;
}

/** One operation in the OpenAPI document. */
export interface Operation {
  readonly method: string;
  /** The path, with parameters as `{name}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly needsBody: boolean;
  readonly responses: Readonly<Record<string, DocumentedAnswer>>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The text of the body; `undefined` for a stream, which does not end. */
  readonly body: string | undefined;
}

/** Standard HTTP headers, and the security headers that every answer of the host has. */
const COMMON_HEADERS = new Set([
  ...["date", "connection", "keep-alive", "content-type", "content-length", "transfer-encoding"],
  ...["content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy"],
  ...["cross-origin-resource-policy", "cache-control", "x-accel-buffering"],
]);
const DELIBERATE = new Set([503, 504, 507]);

/** The operations of an OpenAPI 3.1 document. */
export function operationsOf(document: unknown): Operation[] {
  const { paths, components } = document as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
    components: { schemas: Record<string, unknown> };
  };
  // A schema within itself, such as the parent of a cause, accepts anything at its second level.
  const follow = (node: unknown, within: readonly string[] = []): unknown => {
    if (typeof node !== "object" || node === null) return node;
    if (Array.isArray(node)) return node.map((each) => follow(each, within));
    const { $ref } = node as { $ref?: string };
    if ($ref !== undefined) {
      const name = $ref.split("/").at(-1) ?? "";
      return within.includes(name) ? {} : follow(components.schemas[name], [...within, name]);
    }
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, follow(value, within)]),
    );
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { parameters, requestBody, responses } = follow(operation) as {
        parameters?: Parameter[];
        requestBody?: { required: boolean; content: Record<string, Media> };
        responses: Operation["responses"];
      };
      return {
        method: method.toUpperCase(),
        path,
        parameters: parameters ?? [],
        body: requestBody?.content["application/json"]?.schema,
        needsBody: requestBody?.required === true,
        responses,
      };
    }),
  );
}

/** The differences between an answer and the document; empty for a documented answer. */
export function faultsOfAnswer(operation: Operation, answer: HttpAnswer): string[] {
  const { status, headers } = answer;
  const documented = operation.responses[String(status)];
  if (status >= 500 && !DELIBERATE.has(status)) return [`the status is ${status}`];
  if (!documented) return [`the status ${status} is not documented`];
  return [...headerFaults(documented, headers), ...bodyFaults(documented, answer)];
}

function headerFaults({ headers = {} }: DocumentedAnswer, given: HttpAnswer["headers"]): string[] {
  const known = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const missing = Object.entries(headers).filter(
    ([name, { required }]) => required && given[name.toLowerCase()] === undefined,
  );
  const extra = Object.keys(given).filter((name) => !known.has(name) && !COMMON_HEADERS.has(name));
  return [
    ...missing.map(([name]) => `the header ${name} is missing`),
    ...extra.map((name) => `the header ${name} is not documented`),
  ];
}

function bodyFaults({ content }: DocumentedAnswer, { headers, body }: HttpAnswer): string[] {
  if (!content) return body ? ["a body where none is documented"] : [];
  const type = String(headers["content-type"]).split(";")[0] ?? "";
  const media = content[type];
  if (!media) return [`the content type ${type} is not documented`];
  if (!media.schema || body === undefined) return [];
  try {
    const value: unknown = JSON.parse(body);
    return schemaFaults(media.schema, value).map((fault) => `in the body ${fault}`);
  } catch {
    return ["the body is not JSON"];
  }
}

/** The part of the library's validator that is used; to compare the whole takes the compiler seconds. */
interface Validator {
  Errors(value: unknown): { readonly instancePath: string; readonly message: string }[];
}
const validators = new WeakMap<Schema, Validator>();

/** The faults of a value according to a schema of the document. */
export function schemaFaults(schema: Schema, value: unknown): string[] {
  const validator: Validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator.Errors(value).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
