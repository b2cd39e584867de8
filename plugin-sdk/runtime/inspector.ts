import inspector from "node:inspector";

/** Saved before the plugin's code runs, which may not call them. */
const { close, open, url } = inspector;
const LOOPBACK = "127.0.0.1";
const RETRY_MS = 50;
const TRIES = 20;

/**
 * Opens this loopback port for a debugger. All generations use the same port, so an ending generation may still
 * occupy it for a moment. Without the port the plugin continues undebugged.
 */
export async function openInspector(port: number): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    open(port, LOOPBACK); // prints its address or its error to standard error
    if (url() !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Frees the port for the next generation and disconnects an attached debugger. */
export function closeInspector(): void {
  if (url() !== undefined) close();
}
