import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  findKernelSupport,
  openFilter,
  sandboxArguments,
  type SandboxContents,
} from "../../../../host/modules/process/sandbox/bubblewrap.ts";
import { seccompFilter } from "../../../../host/modules/process/sandbox/seccomp.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { onTestEnd } from "../../../helpers/on-test-end.ts";
import { fakeSystemFiles } from "../../../helpers/system-files.ts";

const NOTHING: SandboxContents = {
  readable: [],
  writable: [],
  hasOpenNetwork: false,
  hasPrograms: false,
};
const NODE = "/opt/node/bin/node";
const CACHE = "/var/cache/sandbox";
const BUBBLEWRAP = { program: "/usr/bin/bwrap", filter: Buffer.alloc(8), folder: CACHE };

/** Sets a property of this process for the test. */
function setProcess(t: TestContext, name: "execPath" | "platform" | "arch", value: string): void {
  const former = Object.getOwnPropertyDescriptor(process, name) ?? {};
  Object.defineProperty(process, name, { ...former, value });
  onTestEnd(t, async () => void Object.defineProperty(process, name, former));
}

/** A machine with a merged /usr, whose `/sbin` is a folder and which has no `/lib32`. */
async function openMachine(t: TestContext) {
  await fakeSystemFiles(t, "/usr", {
    "lib/libc.so": "",
    "lib64/ld.so": "",
    "share/ca-certificates/a.pem": "",
  });
  const resolver = { "resolv.conf": { link: "run/resolv.conf" }, "run/resolv.conf": "" };
  await fakeSystemFiles(t, "/etc", { ...resolver, hosts: "", "ld.so.cache": "", passwd: "" });
  await fakeSystemFiles(t, "/nix", {});
  await fakeSystemFiles(t, "/lib", { "": { link: "usr/lib" } });
  await fakeSystemFiles(t, "/lib64", { "": { link: "usr/lib64" } });
  (await fakeSystemFiles(t, "/lib32", {})).remove("");
  await fakeSystemFiles(t, "/bin", { "": { link: "usr/bin" } });
  await fakeSystemFiles(t, "/sbin", { init: "" });
  await fakeSystemFiles(t, "/opt/node", { "bin/node": "" });
  setProcess(t, "execPath", NODE);
}

interface Mount {
  readonly option: string;
  readonly source: string;
}

/** The mounts in the arguments by their target, in order. */
function mountsIn(sandboxed: readonly string[]): Map<string, Mount> {
  const mounts = new Map<string, Mount>();
  for (const [at, option] of sandboxed.entries()) {
    const [source = "", target = ""] = sandboxed.slice(at + 1);
    if (["--ro-bind", "--ro-bind-try", "--bind", "--dev-bind", "--symlink"].includes(option))
      mounts.set(target, { option, source });
  }
  return mounts;
}

const targets = (contents: Partial<SandboxContents>) => [
  ...mountsIn(sandboxArguments(BUBBLEWRAP, { ...NOTHING, ...contents })).keys(),
];
const readOnly = (path: string) => ["--ro-bind", path, path];

test("a sandbox has no network, no capabilities, no host processes, and only libraries and Node to read", async (t) => {
  await openMachine(t);

  const sandboxed = sandboxArguments(BUBBLEWRAP, NOTHING);

  assert.deepEqual(sandboxed, [
    ...["--unshare-user", "--unshare-all"],
    ...["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"],
    ...["--die-with-parent", "--new-session"],
    ...["--seccomp", "4", "--info-fd", "5"],
    ...["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"],
    ...["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
    ...["--symlink", "usr/bin", "/bin", ...readOnly("/sbin")],
    ...[...readOnly("/usr/lib"), ...readOnly("/usr/lib64")],
    ...readOnly("/etc/ld.so.cache"),
    ...["--ro-bind", `${CACHE}/etc/passwd`, "/etc/passwd"],
    ...["--ro-bind", `${CACHE}/etc/group`, "/etc/group"],
    ...["--ro-bind", `${CACHE}/etc/hosts`, "/etc/hosts"],
    ...readOnly(NODE),
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
  ]);
});

test("with an open network, a process shares the machine's network and reads how names are resolved", async (t) => {
  await openMachine(t);

  const sandboxed = sandboxArguments(BUBBLEWRAP, { ...NOTHING, hasOpenNetwork: true });

  assert.deepEqual(sandboxed.slice(0, 3), ["--unshare-user", "--unshare-all", "--share-net"]);
  const mounts = mountsIn(sandboxed);
  const resolv = { option: "--ro-bind", source: "/etc/run/resolv.conf" };
  assert.deepEqual(mounts.get("/etc/resolv.conf"), resolv);
  assert.deepEqual(mounts.get("/etc/run/resolv.conf"), resolv);
  assert.deepEqual(mounts.get("/etc/hosts")?.source, "/etc/hosts");
  assert.deepEqual(mounts.get("/etc/passwd")?.source, `${CACHE}/etc/passwd`);
  assert.ok(mounts.has("/usr/share/ca-certificates"));
  assert.ok(!mounts.has("/usr"));
});

test("with programs, a process reads /usr as a whole, and has no network by that", async (t) => {
  await openMachine(t);

  const sandboxed = sandboxArguments(BUBBLEWRAP, { ...NOTHING, hasPrograms: true });

  assert.ok(!sandboxed.includes("--share-net"));
  const mounts = mountsIn(sandboxed);
  assert.deepEqual(mounts.get("/usr"), { option: "--ro-bind", source: "/usr" });
  assert.ok(mounts.has("/etc/resolv.conf"));
  assert.equal(mounts.get("/etc/hosts")?.source, `${CACHE}/etc/hosts`);
});

test("readable paths are mounted read-only and writable ones are not, and a missing one is left out", async (t) => {
  await openMachine(t);
  const home = await emptyFolder(t);
  for (const name of ["code", "storage"]) mkdirSync(join(home, name));
  const [code, storage] = [join(home, "code"), join(home, "storage")];
  const readable = [code, storage, join(home, "missing")];

  const contents = { ...NOTHING, readable, writable: [storage] };
  const mounts = mountsIn(sandboxArguments(BUBBLEWRAP, contents));

  assert.deepEqual(mounts.get(code), { option: "--ro-bind-try", source: code });
  assert.deepEqual(mounts.get(storage), { option: "--bind", source: storage });
  assert.ok(!mounts.has(join(home, "missing")));
});

test("a readable path below /dev is mounted as a device", async (t) => {
  await openMachine(t);
  await fakeSystemFiles(t, "/dev", { ttyUSB0: "", "shm/code": "" });
  await fakeSystemFiles(t, "/device", { notes: "" });

  const readable = ["/dev/ttyUSB0", "/dev/shm/code", "/device/notes"];
  const contents = { ...NOTHING, readable };
  const mounts = mountsIn(sandboxArguments(BUBBLEWRAP, contents));

  assert.equal(mounts.get("/dev/ttyUSB0")?.option, "--dev-bind");
  assert.equal(mounts.get("/dev/shm/code")?.option, "--ro-bind-try");
  assert.equal(mounts.get("/device/notes")?.option, "--ro-bind-try");
});

test("a path that is a link is found under its own name and its target's", async (t) => {
  await openMachine(t);
  const home = await emptyFolder(t);
  mkdirSync(join(home, "real"));
  symlinkSync(join(home, "real"), join(home, "link"));

  const mounts = mountsIn(
    sandboxArguments(BUBBLEWRAP, { ...NOTHING, writable: [join(home, "link")] }),
  );

  const source = join(home, "real");
  assert.deepEqual(mounts.get(join(home, "link")), { option: "--bind", source });
  assert.deepEqual(mounts.get(source), { option: "--bind", source });
});

test("a link in another mount is seen there, and only its target is mounted", async (t) => {
  await openMachine(t);
  const home = await emptyFolder(t);
  mkdirSync(join(home, "plugin/packages"), { recursive: true });
  mkdirSync(join(home, "shared"));
  const link = join(home, "plugin/packages/one");
  symlinkSync(join(home, "shared"), link);
  const readable = [join(home, "plugin"), join(home, "plugin/packages"), link];

  const mounted = targets({ readable });

  assert.ok(!mounted.includes(link));
  assert.ok(mounted.includes(join(home, "shared")));
  assert.ok(mounted.includes(join(home, "plugin/packages")));
});

test("a folder with the name of another one as its beginning is not in it", async (t) => {
  await openMachine(t);
  const home = await emptyFolder(t);
  mkdirSync(join(home, "lamp"));
  mkdirSync(join(home, "shared"));
  symlinkSync(join(home, "shared"), join(home, "lamp-link"));

  const mounted = targets({ readable: [join(home, "lamp"), join(home, "lamp-link")] });

  assert.ok(mounted.includes(join(home, "lamp-link")));
});

test("a folder is mounted before those in it, which would be hidden otherwise", async (t) => {
  await openMachine(t);
  const home = await emptyFolder(t);
  mkdirSync(join(home, "a/b/c"), { recursive: true });
  const [a, b, c] = [join(home, "a"), join(home, "a/b"), join(home, "a/b/c")];

  const mounted = targets({ readable: [b], writable: [c, a] });

  assert.deepEqual(
    mounted.filter((each) => each.startsWith(home)),
    [a, b, c],
  );
});

test("a readable /etc/passwd is not the machine's", async (t) => {
  await openMachine(t);

  const contents = { ...NOTHING, readable: ["/etc/passwd"], hasOpenNetwork: true };
  const mounts = mountsIn(sandboxArguments(BUBBLEWRAP, contents));

  assert.equal(mounts.get("/etc/passwd")?.source, `${CACHE}/etc/passwd`);
});

/** A machine where `bwrap` is this shell script, in the second folder of the path. */
async function openProgram(t: TestContext, script: string) {
  const home = await emptyFolder(t);
  const program = join(home, "bin/bwrap");
  mkdirSync(join(home, "bin"));
  mkdirSync(join(home, "first"));
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const path = process.env["PATH"];
  process.env["PATH"] = `:${join(home, "first")}:${join(home, "bin")}`;
  onTestEnd(t, async () => void (process.env["PATH"] = path));
  return { home, program, cache: join(home, "cache") };
}

const isLinux = process.platform === "linux" && seccompFilter() !== undefined;
const skip = isLinux ? false : "there is no bubblewrap";

test(
  "bubblewrap is tried once, with the filter that a sandbox has, and starts Node",
  { skip },
  async (t) => {
    const script = 'echo "$@" > "$0.arguments"; /bin/cat <&4 > "$0.filter"; echo info >&5';
    const { program, cache } = await openProgram(t, script);

    const { bubblewrap, reason } = await findKernelSupport(cache);

    assert.equal(reason, null);
    assert.deepEqual(bubblewrap, {
      program,
      filter: seccompFilter(),
      folder: join(cache, "sandbox"),
    });
    const given = readFileSync(`${program}.arguments`, "utf8").trim();
    assert.ok(given.startsWith("--unshare-user --unshare-all --uid 1000 "), given);
    assert.ok(given.endsWith(` -- ${process.execPath} --version`), given);
    assert.deepEqual(readFileSync(`${program}.filter`), seccompFilter());
  },
);

test("a sandbox has its own users, groups and host names", { skip }, async (t) => {
  const { cache } = await openProgram(t, "true");

  await findKernelSupport(cache);

  const text = (name: string) => readFileSync(join(cache, "sandbox/etc", name), "utf8");
  assert.equal(text("passwd"), "mantel:x:1000:1000::/:/bin/false\n");
  assert.equal(text("group"), "mantel:x:1000:\n");
  assert.equal(text("hosts"), "127.0.0.1 localhost\n::1 localhost\n");
  assert.equal(statSync(join(cache, "sandbox/etc")).mode & 0o777, 0o700);
});

const CONTAINER = /^this container may not create namespaces: (.*)$/;
const SYSTEM = /^the system does not let this user create namespaces: (.*)$/;
const FAILED = /^bubblewrap failed: (.*)$/;

for (const [failure, container, reason, remedy] of [
  ["bwrap: No permissions to create new namespace", "", SYSTEM, /unprivileged_userns_clone=1/],
  ["bwrap: setting up uid map: Permission denied", "", SYSTEM, /apparmor_restrict/],
  ["bwrap: mount: Operation not permitted", "/.dockerenv", CONTAINER, /--security-opt seccomp/],
  [
    "bwrap: mount: Operation not permitted",
    "/run/.containerenv",
    CONTAINER,
    /systempaths=unconfined/,
  ],
  ["bwrap: Unknown option --seccomp", "/.dockerenv", FAILED, /^update the package bubblewrap$/],
] as const) {
  test(
    `the failure "${failure}"${container && ` with ${container}`} prevents confinement has a reason and a remedy`,
    { skip },
    async (t) => {
      for (const root of ["/.dockerenv", "/run/.containerenv"]) {
        const { remove } = await fakeSystemFiles(t, root, { "": "" });
        if (root !== container) remove("");
      }
      const { cache } = await openProgram(
        t,
        `echo first >&2; echo second >&2; echo "${failure}" >&2; exit 1`,
      );

      const support = await findKernelSupport(cache);

      assert.equal(support.bubblewrap, undefined);
      assert.deepEqual(reason.exec(support.reason ?? "")?.[1], failure);
      assert.match("remedy" in support ? support.remedy : "", remedy);
    },
  );
}

test("a failure of bubblewrap without words has the command as reason", { skip }, async (t) => {
  const { cache, program } = await openProgram(t, "exit 3");

  const { reason } = await findKernelSupport(cache);

  assert.match(reason ?? "", /^bubblewrap failed: Command failed: /);
  assert.ok(reason?.includes(program));
});

test(
  "without bubblewrap, processes are not confined, and the remedy installs it",
  { skip },
  async (t) => {
    const { home, cache } = await openProgram(t, "true");
    const missing = {
      bubblewrap: undefined,
      reason: "bubblewrap is not installed",
      remedy: "apt-get install bubblewrap, then restart",
    };

    chmodSync(join(home, "bin/bwrap"), 0o644);
    assert.deepEqual(await findKernelSupport(cache), missing);
    rmSync(join(home, "bin/bwrap"));
    assert.deepEqual(await findKernelSupport(cache), missing);
    delete process.env["PATH"];
    assert.deepEqual(await findKernelSupport(cache), missing);
  },
);

test("a program in the working folder is not used", { skip }, async (t) => {
  const { home, cache } = await openProgram(t, "true");
  const former = process.cwd();
  process.chdir(join(home, "bin"));
  onTestEnd(t, async () => process.chdir(former));
  process.env["PATH"] = ":";

  assert.equal((await findKernelSupport(cache)).bubblewrap, undefined);
});

test("on another system, processes are not confined", async (t) => {
  setProcess(t, "platform", "darwin");

  assert.deepEqual(await findKernelSupport(await emptyFolder(t)), {
    bubblewrap: undefined,
    reason: "kernel confinement needs Linux, and this is darwin",
    remedy: "run Mantel on Linux, or install only plugins that you trust",
  });
});

test(
  "on a processor without a system call filter, processes are not confined",
  { skip },
  async (t) => {
    const { cache } = await openProgram(t, "true");
    setProcess(t, "arch", "riscv64");

    assert.deepEqual(await findKernelSupport(cache), {
      bubblewrap: undefined,
      reason: "Mantel has no system call filter for the processor riscv64",
      remedy: "install only plugins that you trust",
    });
  },
);

test("the filter is written again if the cache was emptied, and only then", async (t) => {
  const folder = join(await emptyFolder(t), "sandbox");
  const bubblewrap = { program: "", filter: Buffer.from("a filter"), folder };
  const read = () => {
    const descriptor = openFilter(bubblewrap);
    const text = readFileSync(descriptor, "utf8");
    closeSync(descriptor);
    return text;
  };

  assert.equal(read(), "a filter");
  assert.ok(readFileSync(join(folder, "etc/group"), "utf8").includes("mantel"));
  writeFileSync(join(folder, "etc/group"), "kept");
  assert.equal(read(), "a filter");
  assert.equal(readFileSync(join(folder, "etc/group"), "utf8"), "kept");
  rmSync(folder, { recursive: true });
  assert.equal(read(), "a filter");
});
