import { MantelError } from "@mantel/plugin-sdk/errors";
import type { SentAnswer } from "@mantel/plugin-sdk/protocol";
import { ROUTE_LIMITS, type RouteDefinition } from "@mantel/plugin-sdk/route";
import { Strict } from "@mantel/plugin-sdk/schema";
import { Type } from "typebox";
import { faultsOf } from "../validate.ts";

/** Response headers that a plugin may set. */
const HEADERS = [
  "cache-control",
  "content-disposition",
  "content-language",
  "etag",
  "last-modified",
  "retry-after",
] as const;
const HeaderText = Type.Optional(Type.String({ pattern: "^[ -~]*$", maxLength: 2_000 }));

/** A path of this host, for the address of what was created. */
const Path = Type.Optional(Type.String({ pattern: "^/(?![/\\\\])[!-~]*$", maxLength: 2_000 }));

/** Base64 needs four characters for three bytes. */
const LONGEST_BASE64 = Math.ceil(ROUTE_LIMITS.mostBytes / 3) * 4;

const Answer = Type.Object(
  {
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    json: Type.Optional(Type.Unknown()),
    text: Type.Optional(Type.String({ maxLength: ROUTE_LIMITS.mostBytes })),
    bytes: Type.Optional(Type.String({ maxLength: LONGEST_BASE64 })),
    type: Type.Optional(
      Type.String({
        pattern: "^[a-z0-9.+-]+/[a-z0-9.+-]+(; ?charset=[A-Za-z0-9-]+)?$",
        maxLength: 200,
      }),
    ),
    file: Type.Optional(Type.String({ pattern: "^/[^\0]*$", maxLength: 4_096 })),
    redirect: Type.Optional(
      Type.String({ pattern: "^(https?://|/(?![/\\\\]))[!-~]*$", maxLength: 2_000 }),
    ),
    headers: Type.Optional(
      Type.Object(
        { ...Object.fromEntries(HEADERS.map((name) => [name, HeaderText])), location: Path },
        Strict,
      ),
    ),
  },
  Strict,
);

/** Thrown for an answer that the host does not send. */
export class WrongAnswer extends MantelError {}

/** A checked answer, ready to be sent. */
export interface CheckedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly body?: Buffer;
  /** The path of the file to send, which is not checked yet. */
  readonly file?: string;
}

/**
 * Checks the answer of a route's handler.
 * @throws WrongAnswer with a sentence for the plugin's author
 */
export function checkAnswer({ response }: RouteDefinition, sent: SentAnswer): CheckedAnswer {
  const contents = contentsOf(sent);
  const { status = 200, headers = {}, json, redirect } = sent;
  if (redirect !== undefined) return redirectAnswer(sent, redirect);
  if (status >= 300 && status < 400) throw refused(`has the status ${status} without a redirect`);
  if (json !== undefined) return { status, headers, ...jsonBody(response, json) };
  if (contents.length > 0) return contentAnswer(sent);
  // An answer without content still has to fit its declaration, unless it reports an error.
  if (response && status < 300) return { status, headers, ...jsonBody(response, json) };
  return { status: sent.status ?? 204, headers };
}

/** The contents of an answer, of which it may have one. @throws WrongAnswer */
function contentsOf(sent: SentAnswer): readonly unknown[] {
  const [fault] = faultsOf(Answer, sent);
  if (fault) throw refused(`${fault.pointer || "the whole value"} ${fault.detail}`);
  const { json, text, bytes, file, redirect } = sent;
  const contents = [json, text, bytes, file, redirect].filter((each) => each !== undefined);
  if (contents.length > 1) throw refused("has more than one of json, content, file and redirect");
  return contents;
}

/** An answer with text, bytes or a file. */
function contentAnswer(sent: SentAnswer): CheckedAnswer {
  const { status = 200, headers = {}, type = "application/octet-stream", file } = sent;
  if (/script|wasm|xml-dtd/i.test(type)) {
    throw refused(`has the type ${type}; scripts are refused`);
  }
  const answer = { status, headers, type };
  return file === undefined ? { ...answer, body: contentOf(sent) } : { ...answer, file };
}

function redirectAnswer({ status = 302, headers }: SentAnswer, location: string): CheckedAnswer {
  if ([301, 302, 303, 307, 308].includes(status)) {
    return { status, headers: { ...headers, location } };
  }
  throw refused(`has a redirect with the status ${status}`);
}

function jsonBody(response: RouteDefinition["response"], json: unknown) {
  const [fault] = response ? faultsOf(response, json) : [];
  if (fault)
    throw refused(`does not fit "response": ${fault.pointer || "the whole value"} ${fault.detail}`);
  const body = Buffer.from(JSON.stringify(json));
  if (body.length <= ROUTE_LIMITS.mostBytes) return { body, type: "application/json" };
  throw refused(`has ${body.length} bytes; at most ${ROUTE_LIMITS.mostBytes} are allowed`);
}

function contentOf({ text, bytes = "" }: SentAnswer): Buffer {
  const body = text === undefined ? Buffer.from(bytes, "base64") : Buffer.from(text);
  if (body.length <= ROUTE_LIMITS.mostBytes) return body;
  throw refused(`has ${body.length} bytes; at most ${ROUTE_LIMITS.mostBytes} are allowed`);
}

function refused(reason: string): WrongAnswer {
  return new WrongAnswer("internal", `the answer ${reason}`);
}
