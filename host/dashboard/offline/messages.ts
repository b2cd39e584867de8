/** The parts of a worker's globals that show messages. */
export interface MessageGlobals {
  readonly registration: {
    showNotification(title: string, options: NotificationOptions): Promise<void>;
  };
  readonly clients: {
    matchAll(options: { type: "window" }): Promise<readonly { focus(): Promise<unknown> }[]>;
    openWindow(path: string): Promise<unknown>;
  };
}

/**
 * Shows a message that a push service has delivered: JSON with `title` and `body`. Browsers want a notification for each
 * one, so another content is shown as a message without text.
 */
export async function showMessage(
  { registration }: Pick<MessageGlobals, "registration">,
  content: string,
): Promise<void> {
  const { title, body } = parse(content);
  await registration.showNotification(textOf(title) || "Mantel", { body: textOf(body) });
}

/** Shows the dashboard when the user opens a message. */
export async function openHome({ clients }: Pick<MessageGlobals, "clients">): Promise<void> {
  const [page] = await clients.matchAll({ type: "window" });
  await (page ? page.focus() : clients.openWindow("/"));
}

function parse(content: string): { readonly title?: unknown; readonly body?: unknown } {
  try {
    return (JSON.parse(content) ?? {}) as object;
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
