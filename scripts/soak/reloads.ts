import { nameFile, openHome, repeat, type Served, writeLamp } from "../bench/house.ts";
import { readAtRest, serveProbed } from "./reading.ts";
import type { Run } from "./run.ts";

const REQUESTS_PER_SECOND = 200;

/** Ways for new code to be wrong. Each round has its own text, so that none is refused unread. */
const FAULTS = [
  (round: number) => `export const name: string = "${round};\n`,
  (round: number) => `import "no-such-package";\nexport const name: string = "${round}";\n`,
  (round: number) => `export const name: string = "${round}";\nthrow new Error(name);\n`,
  (round: number) => `export const name = { toString() { throw new Error("${round}"); } };\n`,
];

/** Reloads of a bridge of ten files with one npm dependency, under requests to its device. */
export async function openReloads(areFailing: boolean): Promise<Run> {
  const home = await openHome(["system"]);
  await writeLamp(home, "lamp");
  const host = await serveProbed(home);
  const headers = { authorization: `Bearer ${host.token}` };
  const requests = repeat(REQUESTS_PER_SECOND, () =>
    fetch(`${host.url}/api/v1/smart-home/devices/lamp:light:1`, { headers }),
  );
  return {
    async round(number) {
      const fault = areFailing ? FAULTS[number % FAULTS.length] : undefined;
      await home.write("lamp/name.ts", fault?.(number) ?? nameFile(`name ${number}.`));
      const status = await reload(host);
      if (status !== (fault ? 422 : 200)) throw new Error(`round ${number} was answered ${status}`);
    },
    read: () => readAtRest(host, home),
    async end() {
      const { asked, failed } = await requests.end();
      await host.stop();
      await home.remove();
      return { asked, failed };
    },
  };
}

async function reload({ url, token }: Served): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/v1/modules/lamp/reload`, { method: "POST", headers });
  await response.arrayBuffer();
  return response.status;
}
