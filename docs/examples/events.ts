// MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… node --import tsx docs/examples/events.ts
import { createClient, unwrap } from "@mantel/plugin-sdk/client";

const { MANTEL_URL = "http://127.0.0.1:8470", MANTEL_TOKEN = "" } = process.env;
const home = createClient({ url: MANTEL_URL, token: MANTEL_TOKEN });

async function readAgain(): Promise<void> {
  const { devices } = await unwrap(home.GET("/smart-home/devices"));
  for (const { name, state } of devices) console.log(name, JSON.stringify(state));
}

// Begins with a resync. Reconnects by itself, and continues from the last event.
for await (const event of home.events({ topics: ["device.state"] })) {
  if (event.topic === "resync") await readAgain();
  else console.log(event.data.device.name, JSON.stringify(event.data.device.state));
}
