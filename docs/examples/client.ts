// MANTEL_URL=http://127.0.0.1:8470 MANTEL_TOKEN=… node --import tsx docs/examples/client.ts
import { createClient, unwrap } from "@mantel/plugin-sdk/client";

const { MANTEL_URL = "http://127.0.0.1:8470", MANTEL_TOKEN = "" } = process.env;
const home = createClient({ url: MANTEL_URL, token: MANTEL_TOKEN });

const { devices } = await unwrap(home.GET("/smart-home/devices"));
const lamp = devices.find(({ kind }) => kind === "light");
if (!lamp) throw new Error("the home has no light");

// Sent again by itself if the bridge is busy.
const { status } = await unwrap(
  home.POST("/smart-home/devices/{id}/command", {
    params: { path: { id: lamp.id } },
    body: { on: true },
  }),
);
console.log(`${lamp.id} ${status}`);
