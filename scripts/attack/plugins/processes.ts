import { constants } from "node:os";
import type { Proof } from "../proof.ts";

/** More than the 64 processes that a plugin may have, because they are counted now and then. */
const MOST_PROGRAMS = 100;

/** The host would end a process that loops for longer. */
const BUSY_MS = 1_000;

/** Attacks on the host's process, on other plugins', and by programs. */
export const PROCESSES: readonly Proof[] = [
  {
    name: "open the host's debugger and run code in it",
    heldFrom: "permission-model",
    attack: `
  sayYes();
  const signals = [facts.host, process.ppid].flatMap((pid) => [
    () => process._debugProcess(pid),
    () => process.kill(pid, "SIGUSR1"),
    () => process._kill(pid, ${constants.signals.SIGUSR1}),
  ]);
  for (const signal of signals) try { signal() } catch {}
  await new Promise((done) => setTimeout(done, 300));
  const [{ webSocketDebuggerUrl }] = await (await fetch("http://127.0.0.1:" + facts.inspector + "/json")).json();
  return webSocketDebuggerUrl;`,
    look: async (stage) =>
      (await stage.answersAt(stage.facts.inspector)) ? "the host's debugger is open" : undefined,
  },
  {
    name: "stop the host and another plugin by signals",
    heldFrom: "permission-model",
    attack: `
  sayYes();
  const pids = [facts.host, facts.bystander];
  let sent = 0;
  for (const pid of pids) {
    let asked = 0;
    const changing = { valueOf: () => (asked++ === 0 ? process.pid : pid), toString: () => String(pid) };
    for (const signal of [
      () => process.kill(pid, "SIGSTOP"),
      () => process.kill(-pid, "SIGSTOP"),
      () => process.kill(changing, "SIGSTOP"),
      () => process._kill(pid, ${constants.signals.SIGSTOP}),
      () => os.setPriority(pid, 19),
    ]) try { signal(); sent++ } catch {}
  }
  return sent;`,
    look: async (stage) => stage.findStopped(),
  },
  {
    name: "start a program (sh, python, itself, a thread without limits)",
    heldFrom: "permission-model",
    attack: `
  const marker = process.cwd() + "/marker";
  const script = "require('node:fs').writeFileSync(" + stringify(marker) + ", 'x')";
  const ended = (child) => new Promise((done, fail) => child.on("exit", done).on("error", fail));
  return anyOf([
    () => ended(childProcess.spawn("/bin/sh", ["-c", "touch marker"])),
    () => ended(childProcess.spawn("python3", ["-c", "open('marker', 'w')"])),
    () => childProcess.execFileSync(process.execPath, ["-e", script]),
    () => ended(childProcess.fork("-", [], { execArgv: ["-e", script] })),
    () => { const cluster = builtin("cluster"); cluster.setupPrimary({ exec: "-" }); return ended(cluster.fork()); },
    () => ended(new workerThreads.Worker(script, { eval: true, execArgv: [] })),
    () => process.execve("/bin/sh", ["sh", "-c", "touch " + marker], {}),
  ]);`,
    look: async (stage) => ((await stage.hasStored("marker")) ? "a program has run" : undefined),
  },
  {
    name: "start hundreds of programs, where programs are permitted",
    heldFrom: "kernel",
    permissions: { childProcesses: true },
    attack: `
  let started = 0;
  for (; started < 300; started++) childProcess.spawn("/bin/sleep", ["30"], { detached: true }).on("error", () => {});
  await new Promise((done) => setTimeout(done, 5_000));
  return started;`,
    look: async (stage) => {
      const isFew = async (): Promise<boolean> => stage.countProcesses("sleep") < MOST_PROGRAMS;
      return (await stage.waitUntil(isFew))
        ? undefined
        : `${stage.countProcesses("sleep")} programs run`;
    },
  },
  {
    name: "outlive a killed host with replaced ends",
    heldFrom: "permission-model",
    attack: `
  const nothing = () => {};
  for (const name of ["kill", "_kill", "exit", "reallyExit", "abort"]) {
    try { process[name] = nothing } catch {}
  }
  events.prototype.emit = nothing;
  fs.writeSync = nothing;
  for (const way of waysTo("/")) try { process.chdir(way()) } catch {}
  process.title = "bash";
  globalThis.kept = setInterval(nothing, 1_000);
  return process.pid;`,
    look: async (stage) => {
      const pids = await stage.killHost();
      const areGone = () => Promise.resolve(!pids.some(stage.isRunning));
      const hasEnded = await stage.waitUntil(areGone);
      await stage.restart();
      return hasEnded ? undefined : "it runs although its host was killed";
    },
  },
  {
    name: "outlive a killed host and the next one in an endless loop",
    heldFrom: "permission-model",
    attack: `
  for (const way of waysTo("/")) try { process.chdir(way()) } catch {}
  process.title = "bash";
  setTimeout(() => { for (;;); }, 20);
  return process.pid;`,
    look: async (stage) => {
      await stage.waitUntil(stage.isHostileBusy, BUSY_MS);
      const pids = await stage.killHost();
      await stage.restart();
      const areGone = () => Promise.resolve(!pids.some(stage.isRunning));
      return (await stage.waitUntil(areGone)) ? undefined : "it runs beside the next host";
    },
  },
];
