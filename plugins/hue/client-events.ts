import { StringDecoder } from "node:string_decoder";

/** A bridge sends all that has changed within a second in one event. */
const LARGEST_CHARS = 2 ** 20;

export interface StreamEvent {
  /** The id from which to resume. */
  readonly id: string | undefined;
  /**
   * Absent for a comment, which only shows that the bridge is alive; `undefined` for invalid JSON.
   */
  readonly data?: unknown;
}

/**
 * The events and comments of a stream (HTML Living Standard, 9.2.6).
 * @throws Error for an event larger than any bridge sends
 */
export async function* eventsIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<StreamEvent> {
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of linesIn(chunks)) {
    const [field = "", ...value] = line.split(":");
    const text = value.join(":").trim();
    if (line.startsWith(":")) yield { id };
    else if (field === "id") id = text.slice(0, 200);
    else if (field === "data") data.push(text);
    else if (line === "" && data.length > 0) {
      yield { id, data: parsed(data.join("\n")) };
      data = [];
    }
  }
}

/** Lines without line ends. The text between two empty lines is limited. */
async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let chars = 0;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      chars = line === "" ? 0 : chars + line.length;
      yield line;
    }
    if (chars + rest.length > LARGEST_CHARS) throw new Error("it sends an event without an end");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
