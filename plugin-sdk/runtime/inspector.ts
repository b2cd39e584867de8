import inspector from "node:inspector";

const LOOPBACK = "127.0.0.1";
const RETRY_MS = 50;
const TRIES = 20;

/**
 * Lets a debugger attach at this port of the loopback address. Generations follow each other at the same
 * port: one that is just ending may hold it for a moment longer. Without the port the work goes on.
 */
export async function openInspector(port: number): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    inspector.open(port, LOOPBACK); // says on standard error where it listens, or why it cannot
    if (inspector.url() !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Frees the port for the generation that follows; whoever is attached is cut off. */
export function closeInspector(): void {
  if (inspector.url() !== undefined) inspector.close();
}
