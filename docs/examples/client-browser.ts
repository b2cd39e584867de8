// A page at the home's own address, for example behind the same reverse proxy, signed in by the dashboard's cookie:
// npx esbuild docs/examples/client-browser.ts --bundle --format=esm --outfile=client-browser.js
import { createClient, ProblemError, unwrap } from "@mantel/plugin-sdk/client";

const home = createClient({ url: location.origin });
const shown = document.body.appendChild(document.createElement("p"));

try {
  const { devices } = await unwrap(home.GET("/smart-home/devices"));
  const lamp = devices.find(({ kind }) => kind === "light");
  if (!lamp) throw new Error("the home has no light");
  const { status } = await unwrap(
    home.POST("/smart-home/devices/{id}/command", {
      params: { path: { id: lamp.id } },
      body: { on: true },
    }),
  );
  shown.textContent = `${lamp.id} ${status}`;
} catch (error) {
  const isSignedOut = error instanceof ProblemError && error.status === 401;
  shown.textContent = isSignedOut ? "Open the dashboard and sign in first." : String(error);
}
