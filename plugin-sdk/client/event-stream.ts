/** One server-sent event, as defined by the HTML standard. */
export interface StreamEvent {
  readonly topic: string;
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * Reads server-sent events from a body until it ends. Calls `onBytes` for each chunk, comments
 * included, so that the caller can detect a dead connection.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseBlock(block: string): StreamEvent | undefined {
  let topic = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^([^:]+):? ?(.*)$/.exec(line) ?? [];
    if (name === "event") topic = value ?? topic;
    else if (name === "id") id = value;
    else if (name === "data") data.push(value ?? "");
  }
  return data.length > 0 || topic === "resync" ? { topic, id, data: data.join("\n") } : undefined;
}
