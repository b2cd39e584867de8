// A page at the home's own address, signed in by the dashboard's cookie:
// npx esbuild docs/examples/events-browser.ts --bundle --format=esm --outfile=events-browser.js
import { createClient, unwrap } from "@mantel/plugin-sdk/client";

const home = createClient({ url: location.origin });
const list = document.body.appendChild(document.createElement("ul"));
const rows = new Map<string, HTMLLIElement>();

function show({ id, name, state }: { id: string; name: string; state: object }): void {
  const row = rows.get(id) ?? list.appendChild(document.createElement("li"));
  rows.set(id, row);
  row.textContent = `${name} ${JSON.stringify(state)}`;
}

async function readAgain(): Promise<void> {
  const { devices } = await unwrap(home.GET("/smart-home/devices"));
  devices.forEach(show);
}

try {
  // Begins with a resync. Reconnects by itself, and continues from the last event.
  for await (const event of home.events({ topics: ["device.state"] })) {
    if (event.topic === "resync") await readAgain();
    else show(event.data.device);
  }
} catch (error) {
  list.textContent = String(error);
}
