import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const PROGRAM = "/usr/sbin/nginx";

/** For `test(name, { skip: withoutNginx }, …)`: false, or why tests with a real server are skipped. */
export const withoutNginx = existsSync(PROGRAM) ? false : `${PROGRAM} is not installed`;

export interface Nginx {
  readonly url: string;
  write(name: string, content: string | Uint8Array): Promise<void>;
  /** `GET /a.ics 304 0`: what was asked, the status, and the bytes of the body, oldest first. */
  requests(): Promise<string[]>;
}

/**
 * A real web server on loopback that serves files with ETags and gzip: `/` to anyone, `/locked/` to
 * `ann` with the password `pw`, and `/moved/…` as a redirect to `/…`. It ends with the test.
 */
export async function startNginx(t: TestContext): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-nginx-"));
  const port = await freePort();
  await mkdir(join(folder, "files", "locked"), { recursive: true });
  await writeFile(join(folder, "users"), "ann:{PLAIN}pw\n");
  await writeFile(join(folder, "nginx.conf"), configFor(folder, port));
  const child = spawn(
    PROGRAM,
    ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")],
    {
      stdio: "ignore",
    },
  );
  t.after(async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    await removeFolder(folder);
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/ready`)).status === 204);
  return {
    url,
    write: (name, content) => writeFile(join(folder, "files", name), content),
    requests: async () =>
      (await readFile(join(folder, "access.log"), "utf8")).split("\n").filter(Boolean),
  };
}

function configFor(folder: string, port: number): string {
  return `
daemon off;
pid ${folder}/pid;
worker_processes 1;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http {
  log_format short '$request_method $uri $status $body_bytes_sent';
  access_log ${folder}/access.log short;
  types { text/calendar ics; }
  gzip on;
  gzip_types text/calendar;
  gzip_min_length 1;
  ${["body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name === "body" ? "client_body" : name}_temp_path ${folder}/${name};`)
    .join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    location = /ready { access_log off; return 204; }
    location /locked/ { auth_basic "calendars"; auth_basic_user_file ${folder}/users; }
    location /moved/ { rewrite ^/moved/(.*)$ /$1 permanent; }
  }
}
`;
}
