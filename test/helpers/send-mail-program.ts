// node <this> CONFIG: sends "hello" through the mail plugin and prints "sent", or the reason why it was not sent.
import { homeNotify } from "@mantel/plugin-sdk/services";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../plugins/smtp/index.ts";

const started = await startPlugin(plugin, {
  config: JSON.parse(process.argv[2] ?? "{}") as object,
});
try {
  await started.call(homeNotify, { message: "hello" });
  console.log("sent");
} catch (error) {
  console.log((error as Error).message);
} finally {
  await started.stop();
}
