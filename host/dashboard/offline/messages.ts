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

/** The part of a `PushManager` that subscribes. */
export interface Subscriber {
  subscribe(options: PushSubscriptionOptionsInit): Promise<PushSubscription>;
}

/** The event `pushsubscriptionchange` (W3C Push API): browsers may leave out either side. */
export interface ChangedSubscription {
  readonly oldSubscription?: Pick<PushSubscription, "endpoint" | "options"> | null;
  readonly newSubscription?: Pick<PushSubscription, "toJSON"> | null;
}

/**
 * Tells the home that the browser has another subscription, so that messages continue. Without the previous one the
 * home cannot know the browser again; the user then turns messages on in the settings.
 */
export async function renewSubscription(
  subscriber: Subscriber,
  { oldSubscription, newSubscription }: ChangedSubscription,
  send: (url: string, init?: RequestInit) => Promise<Response>,
): Promise<void> {
  if (!oldSubscription) return;
  const { applicationServerKey } = oldSubscription.options;
  const subscription =
    newSubscription ??
    (await subscriber.subscribe({ userVisibleOnly: true, applicationServerKey }));
  const { endpoint, keys } = subscription.toJSON();
  const { prefix } = (await (await send("/api")).json()) as { readonly prefix: string };
  await send(`${prefix}/push`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      subscription: { endpoint, keys },
      replaces: oldSubscription.endpoint,
    }),
  });
}

function parse(content: string): { readonly title?: unknown; readonly body?: unknown } {
  try {
    return (JSON.parse(content) ?? {}) as object;
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
